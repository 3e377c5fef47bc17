"""Names of arguments that a function does not have: the error says which there are."""

import difflib
import functools
import inspect
from typing import Any, Callable, Iterable, Type, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])
T = TypeVar("T")


def near(name: str, known: Iterable[str]) -> str:
    """"; there is" and the names that are like one, or nothing."""
    found = difflib.get_close_matches(name.lower(), list(known), 3, 0.5)
    return "; there is %s" % ", ".join(found) if found else ""


def unknown(what: str, name: str, known: Iterable[str]) -> TypeError:
    """The error for a name, with the names that are like it. what: the thing that has other names."""
    return TypeError("%s '%s'%s" % (what, name, near(name, known)))


def nearest(function: F) -> F:
    """The function, which names the nearest arguments where one has a wrong name."""
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
    """The class, whose public functions and constructor are such functions."""
    for name, member in list(vars(kind).items()):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, (classmethod, staticmethod)):
            setattr(kind, name, type(member)(nearest(member.__func__)))
        elif inspect.isfunction(member):
            setattr(kind, name, nearest(member))
    return kind
