"""Errors for misspelt names of arguments: the message lists the names that are alike."""

import difflib
import functools
import inspect
from typing import Any, Callable, Iterable, Type, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def near(name: str, known: Iterable[str]) -> str:
    """Returns "; there is" with the known names that are like this one; "" if there are none."""
    found = difflib.get_close_matches(name.lower(), list(known), 3, 0.5)
    return "; there is %s" % ", ".join(found) if found else ""


def unknown(what: str, name: str, known: Iterable[str]) -> TypeError:
    """Makes the error for an unknown name, with the known names that are like it. what: words before the name."""
    return TypeError("%s '%s'%s" % (what, name, near(name, known)))


def nearest(function: F) -> F:
    """Returns a function that does the same; if an argument has an unknown name, its error lists the names that are alike."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters):
        return function
    known = [p.name for p in parameters if p.kind is not inspect.Parameter.POSITIONAL_ONLY]
    shown = function.__qualname__.replace(".__init__", "")

    @functools.wraps(function)
    def checked(*arguments: Any, **options: Any) -> Any:
        for name in options:
            if name not in known:
                raise unknown("%s() has no argument" % shown, name, known)
        return function(*arguments, **options)

    return cast(F, checked)


def nearest_in(kind: Type[T]) -> Type[T]:
    """Applies nearest() to the constructor and the public functions of a class. Returns the class."""
    for name, member in list(vars(kind).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, (classmethod, staticmethod)):
            setattr(kind, name, type(member)(nearest(member.__func__)))
        elif inspect.isfunction(member):
            setattr(kind, name, nearest(member))
    return kind
