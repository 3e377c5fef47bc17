"""Copies of a report for the checks of chromium.sh: variants.py REPORT.html AXE.js FOLDER

    view.html       the 3-D view alone, at the top of the page
    axe.html        with axe-core, whose violations become the title
    columns.html    colour by the column weights, the first bundle off, the picture saved; the title says what came of it
    slices.html     view.html without slices and with the streamlines near x = 0 alone
    points.html     view.html coloured by the column "ramp" of points, without slices
    layout.html     the title says how many hidden parts are shown, how much wider than the window the page is, and how many tables of values are folded
    hostile.html    (of any report) whether the text of a name became an element"""

import sys
from pathlib import Path

report, axe, folder = Path(sys.argv[1]).read_text(), Path(sys.argv[2]).read_text(), Path(sys.argv[3])
end = report.rindex("</body>")


def variant(name, addition):
    (folder / name).write_text(report[:end] + addition + report[end:])


VIEW = ("<style>header, main section:not(.screen), .screen > :not(#stage) { display: none } body { margin: 0; padding: 0 }"
        " #stage { max-width: none } #stage canvas { width: 800px; height: 600px; max-height: none } #stage span { color: #fff }</style>")
variant("view.html", VIEW)


def after(script):
    return "<script>setTimeout(() => { const get = (id) => document.getElementById(id); " + script + " }, 3000);</script>"


variant("slices.html", VIEW + after("get('plane-y').click(); get('plane-z').click(); get('at-x').value = 25;"
                                    " get('at-x').dispatchEvent(new Event('input')); get('near').click();"))
variant("points.html", VIEW + after("for (const a of 'xyz') if (get('slices').hidden === false) get('plane-' + a).click();"
                                    " const s = get('colour'); s.value = [...s.options].findIndex((o) => o.textContent === 'ramp');"
                                    " s.dispatchEvent(new Event('change'));"))
variant("columns.html", "<script>HTMLAnchorElement.prototype.click = function () { window.saved = this.download + ' ' + this.href.slice(0, 22); };"
        " setTimeout(() => { const select = document.getElementById('colour'), box = document.querySelectorAll('#groups input')[0];"
        " select.value = [...select.options].findIndex((o) => o.textContent === 'weights'); select.dispatchEvent(new Event('change'));"
        " box.click(); document.getElementById('save').click();"
        " document.title = [document.getElementById('groups').textContent, document.getElementById('shown').textContent,"
        " document.getElementById('colour-low').textContent, document.getElementById('colour-high').textContent, window.saved].join('; '); }, 3000);</script>")
variant("layout.html", after("const root = document.documentElement;"
                             " document.title = [...document.querySelectorAll('[hidden]')].filter((e) => getComputedStyle(e).display !== 'none').length"
                             " + ' shown, ' + Math.max(0, root.scrollWidth - innerWidth) + ' too wide, ' + document.querySelectorAll('details table.values').length + ' folded';"))
variant("hostile.html", "<script>document.title = document.querySelectorAll('img[onerror]').length + ' handlers, '"
        " + (JSON.parse(document.getElementById('glslines').textContent) ? 'JSON' : 'nothing');</script>")
variant("axe.html", "<script>" + axe.replace("</script", "<\\/script") + "</script><script>setTimeout(() => axe.run(document, {}).then((r) => {"
        " document.title = 'axe ' + r.violations.length + ' ' + r.violations.map((v) => v.id + ' ' + v.nodes.map((n) => n.target).join(' ')).join('; ')"
        " + ' of ' + r.passes.length; }), 3000);</script>")
