"use strict";
// The 3-D view of streamlines, with slices of an image, drawn with WebGL 2: of reports, and of `glslines view`.
const glslinesStage = (function () {
  const status = document.getElementById("status"), canvas = document.getElementById("canvas");
  const gl = canvas && canvas.getContext("webgl2", { antialias: true });
  // what needs the script shows itself by it
  const show = (shown) => {
    for (const part of ["stage", "controls"]) document.getElementById(part).hidden = !shown;
  };
  // A browser that takes the graphics away, as after sleep, gives them back empty, and does so at any time: while the page loads, or
  // again while all is made anew. restore(): makes all again from what the page keeps, and returns whether the shaders compile; null:
  // the view has not begun. said: of the status while the graphics are there; null: the view has failed, and the status says why.
  let restore = null, said = "";
  const look = () => {
    if (said === null) return;
    const away = gl.isContextLost();
    document.getElementById("save").disabled = away;
    status.textContent = away ? "The browser has taken the 3-D graphics of this page away. They come back as soon as it allows, or when the page is loaded again." : said;
  };
  const fail = (why) => {
    show(false);
    said = null;
    status.textContent = why;
    return null;
  };
  if (gl) {
    canvas.addEventListener("webglcontextlost", (event) => {
      event.preventDefault(); // else they are never given back
      look();
    });
    canvas.addEventListener("webglcontextrestored", () => {
      if (restore && !restore() && !gl.isContextLost()) fail("The browser has ended the 3-D graphics of this page. Load it again.");
      look();
    });
  }

  const words = (n) => n.toLocaleString("en");

  function unpack(text) {
    const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
    return new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer()
      .then((buffer) => new Uint8Array(buffer));
  }

  // u32 lines, u32 points, f32 scale, f32 origin[3], u16 count[lines], then 16-bit differences of x, y and z
  function decode(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset), n = view.getUint32(0, true), points = view.getUint32(4, true);
    const scale = view.getFloat32(8, true), origin = [12, 16, 20].map((at) => view.getFloat32(at, true));
    const lines = { n, points, scale, origin, first: new Uint32Array(n + 1), length: new Float32Array(n),
      place: new Uint16Array(4 * points), tangent: new Int8Array(4 * points) };
    for (let i = 0, at = 24; i < n; i++, at += 2) lines.first[i + 1] = lines.first[i] + view.getUint16(at, true);
    for (let axis = 0; axis < 3; axis++) {
      const start = 24 + 2 * n + 2 * points * axis;
      for (let i = 0; i < n; i++)
        for (let p = lines.first[i], v = 0; p < lines.first[i + 1]; p++)
          lines.place[4 * p + axis] = v = (v + view.getUint16(start + 2 * p, true)) & 65535;
    }
    for (let i = 0; i < n; i++) measure(lines, i);
    return lines;
  }

  // Lengths of the lines, and the direction at each point: from the point before to the point behind.
  function measure(lines, i) {
    const first = 4 * lines.first[i], last = 4 * (lines.first[i + 1] - 1), place = lines.place;
    let length = 0;
    for (let p = first; p <= last; p += 4) {
      const from = Math.max(p - 4, first), to = Math.min(p + 4, last);
      const x = place[to] - place[from], y = place[to + 1] - place[from + 1], z = place[to + 2] - place[from + 2];
      const share = 127 / (Math.sqrt(x * x + y * y + z * z) || 1);
      lines.tangent[p] = Math.round(share * x);
      lines.tangent[p + 1] = Math.round(share * y);
      lines.tangent[p + 2] = Math.round(share * z);
      if (p === first) continue;
      const dx = place[p] - place[p - 4], dy = place[p + 1] - place[p - 3], dz = place[p + 2] - place[p - 2];
      length += Math.sqrt(dx * dx + dy * dy + dz * dz);
    }
    lines.length[i] = lines.scale * length;
  }

  const vertexText = `#version 300 es
    in vec3 place; in vec3 tangent; in vec4 paint; uniform vec3 centre; uniform mat3 turn; uniform vec2 zoom;
    uniform vec3 shift; uniform float factor; uniform float light; out vec3 colour; out vec3 where;
    void main() {
      where = place * factor + shift;
      vec3 p = turn * (where - centre), t = normalize(turn * tangent + vec3(0.0, 0.0, 1e-6));
      gl_Position = vec4(p.xy * zoom, -p.z * 0.5, 1.0);
      vec3 direction = 0.16 + 0.84 * abs(normalize(tangent + vec3(1e-6)));
      colour = light * mix(direction, paint.rgb, paint.a) * (0.35 + 0.65 * sqrt(max(0.0, 1.0 - t.z * t.z)))
        * clamp(0.75 + 0.5 * p.z, 0.35, 1.0);
    }`;
  const fragmentText = `#version 300 es
    precision highp float; in vec3 colour; in vec3 where; uniform vec3 low; uniform vec3 high; out vec4 pixel;
    void main() {
      bvec3 inside = bvec3(vec3(greaterThan(where, low)) * vec3(lessThan(where, high)));
      if (!any(inside)) discard;
      pixel = vec4(colour, 1.0);
    }`;

  // Makes a shader program. null: it does not compile, or the graphics are away.
  function build(vertex, fragment) {
    if (gl.isContextLost()) return null;
    const program = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, text);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
  }

  // A picture that was kept, over the whole canvas.
  const keptVertex = `#version 300 es
    void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }`;
  const keptFragment = `#version 300 es
    precision highp float; uniform sampler2D kept; out vec4 pixel;
    void main() { pixel = texelFetch(kept, ivec2(gl_FragCoord.xy), 0); }`;

  // The programs of streamlines and of pictures that were kept.
  let program = null, keeper = null;
  // Makes them; those of before stay where that fails. Returns whether they compile.
  function prepare() {
    const made = [build(vertexText, fragmentText), build(keptVertex, keptFragment)];
    if (!made.every(Boolean)) return false;
    [program, keeper] = made;
    gl.enable(gl.DEPTH_TEST);
    return true;
  }

  // Rows of the rotation: right, up, towards the viewer. As in the pictures, left of the body is left from above.
  const stands = { superior: [[1, 0, 0], [0, 1, 0], [0, 0, 1]], inferior: [[-1, 0, 0], [0, 1, 0], [0, 0, -1]],
    posterior: [[1, 0, 0], [0, 0, 1], [0, -1, 0]], anterior: [[-1, 0, 0], [0, 0, 1], [0, 1, 0]],
    left: [[0, -1, 0], [0, 0, 1], [-1, 0, 0]], right: [[0, 1, 0], [0, 0, 1], [1, 0, 0]] };

  function start(lines, slices, glyphs, columns) {
    show(true);
    const state = { from: 0, to: Infinity, asked: false };
    // Pictures are kept: of slices, streamlines of the file and ODFs, and of these with what was tracked or selected. While regions move
    // in front of them, and streamlines follow, they are not drawn again. kept: number of the pictures that have not changed since.
    let pictures = [gl.createTexture(), gl.createTexture()], kept = 0;
    // Panes of the view, each with its rotation, zoom, the only slice that it shows (null: all), and its share of the canvas: left, top,
    // width, height. The pane under the pointer is the one that events change.
    const letters = ["L", "R", "P", "A", "I", "S"];
    const main = { rows: stands.superior, zoom: 1, plane: null, share: [0, 0, 1, 1], spans: letters.map((name) => document.getElementById("axis-" + name)) };
    const flat = [["superior", 2, 0, 0], ["posterior", 1, 0.5, 0], ["left", 0, 0, 0.5]].map(([from, plane, x, y]) =>
      ({ rows: stands[from], zoom: 1, plane, share: [x, y, 0.5, 0.5], spans: [] }));
    let panes = [main], pane = main;
    // The place of the pane on the canvas, in pixels.
    const room = () => ["clientWidth", "clientHeight", "clientWidth", "clientHeight"].map((side, i) => pane.share[i] * canvas[side]);
    // Makes the pane under the pointer the one that events change. Returns where the pointer is from its middle, to the right and up.
    function enter(e, stays) {
      const box = canvas.getBoundingClientRect(), x = e.clientX - box.left, y = e.clientY - box.top;
      const under = ({ share: [left, top, width, height] }) => x >= left * box.width && x <= (left + width) * box.width &&
        y >= top * box.height && y <= (top + height) * box.height;
      if (!stays) pane = panes.find(under) || pane;
      const [left, top, width, height] = room();
      return [x - left - width / 2, top + height / 2 - y];
    }
    const low = [65535, 65535, 65535], high = [0, 0, 0];
    for (let p = 0; p < lines.points; p++)
      for (let a = 0; a < 3; a++) {
        low[a] = Math.min(low[a], lines.place[4 * p + a]);
        high[a] = Math.max(high[a], lines.place[4 * p + a]);
      }
    // without streamlines the view shows the whole image
    for (let a = 0; a < 3 && lines.points === 0 && slices; a++)
      [low[a], high[a]] = [slices.first[a], slices.first[a] + slices.size[a]];
    const centre = low.map((v, a) => (v + high[a]) / 2), half = low.map((v, a) => (high[a] - v) / 2);
    const reach = Math.hypot(...half) || 1;

    // Lines on the device: those of the page, tracked ones, the sphere. Their positions count from their own origin.
    function load(drawn) {
      return upload({ lines: drawn, paint: new Uint8Array(4 * drawn.points), count: 0, wanted: () => false, factor: drawn.scale / lines.scale,
        shift: drawn.origin.map((v, a) => (v - lines.origin[a]) / lines.scale) });
    }
    // Makes the buffers of lines from what the page keeps of them.
    function upload(set) {
      const array = gl.createVertexArray(), buffers = [];
      const put = (name, values, type, n, normal, stride) => {
        const at = gl.getAttribLocation(program, name);
        buffers.push(gl.createBuffer());
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[buffers.length - 1]);
        gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
        gl.enableVertexAttribArray(at);
        gl.vertexAttribPointer(at, n, type, normal, stride, 0);
      };
      gl.bindVertexArray(array);
      put("place", set.lines.place, gl.UNSIGNED_SHORT, 3, false, 8);
      put("tangent", set.lines.tangent, gl.BYTE, 3, false, 4);
      put("paint", set.paint, gl.UNSIGNED_BYTE, 4, true, 4);
      buffers.push(gl.createBuffer());
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, buffers[3]);
      gl.bindVertexArray(null);
      select(Object.assign(set, { array, buffers }), set.wanted);
      return set;
    }
    function repaint(set) {
      gl.bindBuffer(gl.ARRAY_BUFFER, set.buffers[2]);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, set.paint);
    }
    // Draws from now on the lines for which wanted() is true. Returns their number.
    function select(set, wanted) {
      const index = new Uint32Array(2 * set.lines.points);
      let shown = 0;
      Object.assign(set, { wanted, count: 0 });
      for (let i = 0; i < set.lines.n; i++) {
        if (!wanted(i)) continue;
        shown++;
        for (let p = set.lines.first[i] + 1; p < set.lines.first[i + 1]; p++) {
          index[set.count++] = p - 1;
          index[set.count++] = p;
        }
      }
      gl.bindVertexArray(set.array);
      gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, index.subarray(0, set.count), gl.DYNAMIC_DRAW);
      gl.bindVertexArray(null);
      return shown;
    }
    function unload(set) {
      if (!set) return;
      gl.deleteVertexArray(set.array);
      set.buffers.forEach((buffer) => gl.deleteBuffer(buffer));
    }
    let watching = null; // is called after each drawing
    const own = load(lines), paint = own.paint, extra = { tracked: null, selected: null };
    let shapes = null;

    const numbers = [{ name: "length, mm", values: lines.length }, ...columns.filter((c) => c.of !== "group")];
    const groups = columns.filter((c) => c.of === "group").map((c) => ({ name: c.name, values: c.values, shown: true }));
    const others = { name: "others", values: Array.from(lines.length, (_, i) => groups.some((g) => g.values[i]) ? 0 : 1), shown: true };
    if (groups.length) groups.push(others);

    // Colours of a column: each line's number between the 2nd and the 98th percentile, on five stops of viridis.
    const stops = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
    function ramp(x) {
      const at = Math.min(1, Math.max(0, x)) * 4, i = Math.min(3, Math.floor(at));
      return stops[i].map((v, k) => v + (stops[i + 1][k] - v) * (at - i));
    }
    function colourBy(column) {
      const legend = document.getElementById("colours");
      legend.hidden = !column;
      paint.fill(0);
      if (column && column.of === "points")
        for (let p = 0; p < lines.points; p++) {
          const v = column.bytes[p];
          paint.set([...(v ? ramp((v - 1) / 254) : [144, 144, 144]).map(Math.round), 255], 4 * p);
        }
      else if (column) {
        const known = Array.from(column.values).filter((v) => v !== null).sort((a, b) => a - b);
        column.low = known[Math.floor(0.02 * (known.length - 1))] || 0;
        column.high = known[Math.floor(0.98 * (known.length - 1))] || 0;
        const { low, high } = column;
        for (let i = 0; i < lines.n; i++) {
          const v = column.values[i], rgb = v === null ? [144, 144, 144] : ramp(high > low ? (v - low) / (high - low) : 0.5);
          for (let p = lines.first[i]; p < lines.first[i + 1]; p++) paint.set([...rgb.map(Math.round), 255], 4 * p);
        }
      }
      for (const end of ["low", "high"])
        if (column) document.getElementById("colour-" + end).textContent = Number(column[end].toPrecision(3));
      repaint(own);
      ask();
    }
    const colour = document.getElementById("colour");
    for (const [i, name] of ["direction", ...numbers.map((c) => c.name)].entries()) {
      const option = document.createElement("option");
      option.value = i;
      option.textContent = name;
      colour.append(option);
    }
    colour.addEventListener("change", () => colourBy(numbers[colour.value - 1]));

    const box = document.getElementById("groups");
    box.hidden = groups.length === 0;
    for (const group of groups) {
      const label = document.createElement("label"), tick = document.createElement("input");
      tick.type = "checkbox";
      tick.checked = true;
      tick.addEventListener("change", () => { group.shown = tick.checked; choose(); });
      label.append(tick, group.name + " " + group.values.reduce((sum, v) => sum + (v ? 1 : 0), 0));
      box.append(label);
    }

    document.getElementById("slices").hidden = !slices;
    if (slices) {
      for (const [a, name] of ["x", "y", "z"].entries()) {
        const plane = slices.plane[a], slider = document.getElementById("at-" + name), out = document.getElementById("mm-" + name);
        const tick = document.getElementById("plane-" + name);
        slider.min = Math.ceil(slices.low[a]);
        slider.max = Math.floor(slices.low[a] + slices.extent[a]);
        slider.value = plane.at;
        const move = () => { plane.at = Number(slider.value); out.textContent = name + " = " + slider.value + " mm"; ask(); };
        slider.addEventListener("input", move);
        tick.addEventListener("change", () => { plane.shown = tick.checked; ask(); });
        move();
      }
      const near = document.getElementById("near");
      near.addEventListener("change", () => { slices.near = near.checked; ask(); });
      const four = document.getElementById("four");
      four.addEventListener("change", () => divide(four.checked));
    }

    document.getElementById("save").addEventListener("click", () => {
      draw();
      if (gl.isContextLost()) return; // a picture of them would be empty
      const link = document.createElement("a");
      link.href = canvas.toDataURL("image/png");
      link.download = "tractogram.png";
      link.click();
    });

    function choose() {
      const shown = select(own, (i) => lines.length[i] >= state.from && lines.length[i] <= state.to &&
        (groups.length === 0 || groups.some((g) => g.shown && g.values[i])));
      document.getElementById("shown").textContent = words(shown) + " of " + words(lines.n) + " streamlines";
      ask();
    }

    function label(zoom) {
      const [left, top, width, height] = pane.share;
      letters.forEach((name, i) => {
        const axis = i >> 1, sign = i & 1 ? 1 : -1, span = pane.spans[i];
        const d = pane.rows.map((row) => row[axis] * sign * (half[axis] / reach * 1.06 + 0.03));
        span.style.left = 100 * left + width * (50 + 50 * Math.max(-0.97, Math.min(0.97, d[0] * zoom[0]))) + "%";
        span.style.top = 100 * top + height * (50 - 50 * Math.max(-0.95, Math.min(0.95, d[1] * zoom[1]))) + "%";
        span.hidden = Math.abs(pane.rows[2][axis]) > 0.97;
      });
    }

    // Shows the length of a round number of mm on the screen: the longest one below a quarter of the view.
    function measureScreen() {
      const bar = document.getElementById("scale"), px = side() * pane.zoom / (2 * reach * lines.scale);
      const fitting = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200].filter((mm) => mm * px <= side() / 4);
      const mm = fitting[fitting.length - 1] || 0.1;
      bar.textContent = mm + " mm";
      bar.style.width = mm * px + "px";
    }

    // Sets the numbers of the view that both shader programs use. The box becomes at most 1 long in any direction.
    function aim(program, zoom) {
      const r = pane.rows, at = (name) => gl.getUniformLocation(program, name);
      gl.useProgram(program);
      gl.uniform3fv(at("centre"), centre);
      gl.uniformMatrix3fv(at("turn"), false, [0, 1, 2].flatMap((c) => [0, 1, 2].map((row) => r[row][c] / reach)));
      gl.uniform2fv(at("zoom"), zoom);
      return at;
    }

    function draw() {
      state.asked = false;
      if (gl.isContextLost()) return;
      const ratio = window.devicePixelRatio || 1, w = Math.round(canvas.clientWidth * ratio), h = Math.round(canvas.clientHeight * ratio);
      if (canvas.width !== w || canvas.height !== h) { canvas.width = w; canvas.height = h; kept = 0; }
      gl.clearColor(0, 0, 0, 1);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      const active = pane, parts = overlaid() ? [drawBack, drawFront] : [drawBack];
      if (kept > 0) drawKept(pictures[Math.min(kept, parts.length) - 1], w, h);
      for (; kept < parts.length; kept++) {
        gl.clear(gl.DEPTH_BUFFER_BIT);
        for (pane of panes) parts[kept](view(w, h));
        keep(pictures[kept], w, h);
      }
      for (pane of panes) drawShapes(view(w, h));
      pane = active;
      if (watching) watching();
    }
    // Keeps the picture that was drawn: to copy it takes less time than to draw it again when something begins to move.
    function keep(picture, w, h) {
      gl.activeTexture(gl.TEXTURE0);
      gl.bindTexture(gl.TEXTURE_2D, picture);
      gl.copyTexImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, 0, 0, w, h, 0);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    }
    function drawKept(picture, w, h) {
      gl.activeTexture(gl.TEXTURE0);
      gl.bindTexture(gl.TEXTURE_2D, picture);
      gl.viewport(0, 0, w, h);
      gl.useProgram(keeper);
      gl.uniform1i(gl.getUniformLocation(keeper, "kept"), 0);
      gl.depthMask(false);
      gl.drawArrays(gl.TRIANGLES, 0, 3);
      gl.depthMask(true);
    }
    // Prepares the part of the canvas of the pane. Returns the zoom.
    function view(w, h) {
      const [left, top, width, height] = pane.share.map((v, i) => Math.round(v * (i % 2 ? h : w)));
      pane.port = [left, h - top - height, width, height];
      gl.viewport(...pane.port);
      const least = Math.min(width, height);
      return [pane.zoom * least / width, pane.zoom * least / height];
    }
    const overlaid = () => extra.tracked || extra.selected;
    function drawSet(set, light = overlaid() && set === own ? 0.3 : 1) {
      const at = (name) => gl.getUniformLocation(program, name);
      if (!set || set.count === 0) return;
      gl.uniform1f(at("factor"), set.factor);
      gl.uniform3fv(at("shift"), set.shift);
      // what was tracked or selected stands out from the file, which hides none of it; regions are seen through all
      gl.uniform1f(at("light"), light);
      gl.depthMask(set !== own || !overlaid());
      if (set === shapes) gl.disable(gl.DEPTH_TEST);
      gl.bindVertexArray(set.array);
      gl.drawElements(gl.LINES, set.count, gl.UNSIGNED_INT, 0);
      gl.bindVertexArray(null);
      gl.enable(gl.DEPTH_TEST);
      gl.depthMask(true);
    }
    // Uses the program of streamlines. A pane of one slice shows those near it alone, which would hide it otherwise.
    function aimLines(zoom) {
      const at = aim(program, zoom), far = 1e6, near = slices && (pane.plane !== null || (slices.near && slices.plane.some((p) => p.shown)));
      const bound = (sign) => [0, 1, 2].map((a) => !near ? sign * far : (pane.plane === null ? !slices.plane[a].shown : pane.plane !== a) ? far
        : (slices.plane[a].at + sign * 3 - lines.origin[a]) / lines.scale);
      gl.uniform3fv(at("low"), bound(-1));
      gl.uniform3fv(at("high"), bound(1));
    }
    function drawBack(zoom) {
      const drawSlices = () => { if (slices) slices.draw((used) => aim(used, zoom), pane.plane); };
      if (!brush) drawSlices();
      aimLines(zoom);
      drawSet(own);
      if (glyphs) glyphs.draw((used) => aim(used, zoom));
      // who paints sees the slices in front of the streamlines of the file
      if (!brush || !slices) return;
      gl.clear(gl.DEPTH_BUFFER_BIT);
      drawSlices();
    }
    function drawFront(zoom) {
      // slices and ODFs hide what is behind them, streamlines of the file do not
      gl.colorMask(false, false, false, false);
      if (slices) slices.draw((used) => aim(used, zoom), pane.plane);
      if (glyphs && !brush) glyphs.draw((used) => aim(used, zoom));
      gl.colorMask(true, true, true, true);
      aimLines(zoom);
      [extra.selected, extra.tracked].forEach((set) => drawSet(set));
    }
    // Draws the outlines of regions three pixels wide, with a dark rim: streamlines are lines, too, and would hide them otherwise.
    function drawShapes(zoom) {
      const [left, bottom, width, height] = pane.port;
      aimLines(zoom);
      for (const [light, wide] of [[0, 2], [1.5, 1]])
        for (const x of [-wide, 0, wide])
          for (const y of [-wide, 0, wide]) {
            gl.viewport(left + x, bottom + y, width, height);
            drawSet(shapes, light);
          }
      gl.viewport(...pane.port);
      label(zoom);
      if (pane === main) measureScreen();
    }
    // Draws the view with the next frame. same: number of the pictures that are as before.
    function ask(same = 0) {
      kept = Math.min(kept, same);
      if (!state.asked) { state.asked = true; requestAnimationFrame(draw); }
    }

    // Turns by angles round the vertical and the horizontal of the screen.
    function turn(x, y) {
      if (pane.plane !== null) return;
      const [cx, sx, cy, sy] = [Math.cos(x), Math.sin(x), Math.cos(y), Math.sin(y)], r = pane.rows;
      const mix = (a, b, p, q) => a.map((v, i) => v * p + b[i] * q);
      let [right, up, toward] = [mix(r[0], r[2], cx, sx), r[1], mix(r[2], r[0], cx, -sx)];
      [up, toward] = [mix(up, toward, cy, -sy), mix(toward, up, cy, sy)];
      pane.rows = [right, up, toward].map((v) => v.map((c) => c / Math.hypot(...v)));
      ask();
    }
    function zoomBy(factor) { pane.zoom = Math.min(20, Math.max(0.3, pane.zoom * factor)); ask(); }
    function stand(name) { pane = main; pane.rows = stands[name]; pane.zoom = 1; ask(); }
    // Shows the three slices beside the view, each from its front; or the view alone.
    function divide(four) {
      for (const { spans } of flat) spans.splice(0).forEach((span) => span.remove());
      [panes, pane] = [four ? [...flat, main] : [main], main];
      main.share = four ? [0.5, 0.5, 0.5, 0.5] : [0, 0, 1, 1];
      for (const { spans } of four ? flat : [])
        for (const span of main.spans) {
          const copy = span.parentNode.appendChild(span.cloneNode(true));
          copy.removeAttribute("id");
          spans.push(copy);
        }
      ask();
    }

    // Spheres and boxes that are moved in the plane of the screen: { name, at, half, round, colour, moved(at), sized(factor) },
    // mm; half: from the centre to the sides; fixed: it is not moved. The one that was taken last is moved by keys.
    let handles = [], held = null;
    const side = () => Math.min(room()[2], room()[3]);
    // mm in the world along a movement on the screen, in pixels to the right, up and towards the viewer
    function moveBy(right, up, toward) {
      const mm = 2 * reach * lines.scale / (side() * pane.zoom);
      held.moved(held.at.map((v, a) => v + mm *
        (right * pane.rows[0][a] + up * pane.rows[1][a] + toward * pane.rows[2][a])));
    }
    // the handle under the pointer, of several the one whose centre is nearest
    function handleAt(e) {
      const [right, up] = enter(e), scale = side() * pane.zoom / (2 * reach);
      let best = null, least = Infinity;
      for (const handle of handles) {
        if (handle.fixed) continue;
        const p = handle.at.map((v, a) => (v - lines.origin[a]) / lines.scale - centre[a]);
        const [x, y] = pane.rows.map((row) => scale * row.reduce((sum, v, a) => sum + v * p[a], 0));
        const away = Math.hypot(right - x, up - y);
        if (away > Math.max(12, scale * Math.max(...handle.half) / lines.scale) || away >= least) continue;
        best = handle;
        least = away;
      }
      return best;
    }
    // The place, mm, that the pointer is on, and the axis across its slice: the slice that is in front, or that of `only`.
    // null: none.
    function placeAt(e, only = null) {
      if (!slices) return null;
      const [right, up] = enter(e, only !== null), scale = side() * pane.zoom / (2 * reach), [x, y] = [right / scale, up / scale];
      const from = [0, 1, 2].map((a) => lines.origin[a] + lines.scale * (centre[a] + x * pane.rows[0][a] + y * pane.rows[1][a]));
      let best = null, front = -Infinity;
      slices.plane.forEach((plane, a) => {
        const way = (plane.at - from[a]) / pane.rows[2][a];
        if (!seesPlane(a) || (only !== null && a !== only) || Math.abs(pane.rows[2][a]) < 1e-6 || way <= front) return;
        const place = from.map((v, k) => k === a ? plane.at : v + way * pane.rows[2][k]);
        if (place.some((v, k) => v < slices.low[k] || v > slices.low[k] + slices.extent[k])) return;
        best = { place, axis: a };
        front = way;
      });
      return best;
    }
    // Whether the pane shows the slice across an axis.
    const seesPlane = (a) => pane.plane === null ? slices.plane[a].shown : pane.plane === a;
    // The axis of the slice that is seen most from the front; null: no slice is shown.
    function facing() {
      const shown = [0, 1, 2].filter((a) => slices && seesPlane(a));
      return shown.length ? shown.reduce((a, b) => Math.abs(pane.rows[2][b]) > Math.abs(pane.rows[2][a]) ? b : a) : null;
    }
    let picking = null; // gets the place of the next click
    let brush = null, painting = null; // what paints; the axis across the slice that is painted
    let last = null, moving = false;
    canvas.addEventListener("pointerdown", (e) => {
      last = [e.clientX, e.clientY];
      if (picking) {
        const place = placeAt(e), take = picking;
        picking = last = null;
        canvas.classList.remove("picking");
        take(place && place.place);
        return;
      }
      const found = brush && placeAt(e);
      if (found) {
        painting = found.axis;
        last = null;
        canvas.setPointerCapture(e.pointerId);
        brush.down(found.place, found.axis);
        return;
      }
      const handle = handleAt(e);
      moving = handle !== null;
      held = handle || held;
      canvas.setPointerCapture(e.pointerId);
    });
    const lift = () => {
      const paints = painting !== null && brush;
      last = painting = null;
      if (paints) brush.up();
    };
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointermove", (e) => {
      if (brush && !last) {
        const found = placeAt(e, painting);
        if (found && painting === null) brush.hover(found.place);
        else if (found) brush.move(found.place);
        return;
      }
      if (!last) return;
      const [x, y] = [e.clientX - last[0], e.clientY - last[1]];
      if (moving && e.shiftKey) held.sized(Math.exp(y * -0.01));
      else if (moving) moveBy(x, -y, 0);
      else turn(x * -0.008, y * -0.008);
      last = [e.clientX, e.clientY];
    });
    // The wheel zooms, with Shift it moves the slice that is seen from the front. Trackpads pinch with Ctrl, and in small steps.
    let turned = 0;
    canvas.addEventListener("wheel", (e) => {
      e.preventDefault();
      enter(e);
      const way = (e.deltaY || e.deltaX) * (e.deltaMode === 1 ? 33 : 1), axis = facing();
      if (!e.shiftKey) { zoomBy(Math.exp(-way * (e.ctrlKey ? 0.01 : 0.001))); return; }
      turned += way / 50;
      const steps = Math.trunc(turned);
      turned -= steps;
      if (axis === null || steps === 0) return;
      const slider = document.getElementById("at-" + "xyz"[axis]);
      slider.value = Number(slider.value) - steps * Math.sign(pane.rows[2][axis]);
      slider.dispatchEvent(new Event("input", { bubbles: true }));
    }, { passive: false });
    canvas.addEventListener("keydown", (e) => {
      const acts = { ArrowLeft: () => turn(0.1, 0), ArrowRight: () => turn(-0.1, 0), ArrowUp: () => turn(0, 0.1),
        ArrowDown: () => turn(0, -0.1), "+": () => zoomBy(1.2), "=": () => zoomBy(1.2), "-": () => zoomBy(1 / 1.2),
        Home: () => stand("superior") };
      const px = side() * pane.zoom / (2 * reach * lines.scale); // a millimetre
      const moves = { ArrowLeft: [-px, 0, 0], ArrowRight: [px, 0, 0], ArrowUp: [0, px, 0], ArrowDown: [0, -px, 0],
        PageUp: [0, 0, px], PageDown: [0, 0, -px] };
      const sizes = { "[": 1 / 1.1, "]": 1.1 };
      if (brush && e.key === "Enter") { e.preventDefault(); brush.press(facing()); }
      else if (held && e.shiftKey && moves[e.key]) { e.preventDefault(); moveBy(...moves[e.key]); }
      else if (held && sizes[e.key]) { e.preventDefault(); held.sized(sizes[e.key]); }
      else if (acts[e.key]) { e.preventDefault(); acts[e.key](); }
    });
    for (const name of Object.keys(stands)) document.getElementById("stand-" + name).addEventListener("click", () => stand(name));
    let longest = 1;
    for (const v of lines.length) longest = Math.max(longest, v);
    for (const which of ["from", "to"]) {
      const slider = document.getElementById("length-" + which), out = document.getElementById("mm-" + which);
      slider.max = Math.ceil(longest);
      slider.value = which === "to" ? slider.max : 0;
      const show = () => { out.textContent = slider.value + " mm"; state[which] = Number(slider.value); };
      show();
      slider.addEventListener("input", () => { show(); choose(); });
    }
    new ResizeObserver(() => ask()).observe(canvas);
    restore = () => {
      if (!prepare() || (slices && !slices.upload()) || (glyphs && !glyphs.upload())) return false;
      pictures = [gl.createTexture(), gl.createTexture()];
      [own, extra.tracked, extra.selected, shapes].forEach((set) => { if (set) upload(set); });
      ask();
      return true;
    };
    choose();
    draw();
    const total = Number(document.getElementById("stage").dataset.total);
    said = lines.n < total ? words(lines.n) + " of the " + words(total) + " streamlines, evenly spread over the file."
      : "All " + words(total) + " streamlines.";
    look();

    return {
      // Shows streamlines that were "tracked" or "selected", coloured by direction, in place of the last ones; null: none.
      show(which, bytes) {
        const stood = Boolean(overlaid());
        unload(extra[which]);
        extra[which] = bytes && load(decode(bytes));
        if (bytes) select(extra[which], () => true);
        ask(Boolean(overlaid()) === stood ? 1 : 0);
      },
      // Shows spheres and boxes, which can be moved. name: of the one that keys move; without it that of before.
      hold(list, name) {
        handles = list;
        const free = list.filter((handle) => !handle.fixed);
        held = free.find((handle) => handle.name === (name || (held && held.name))) || free[free.length - 1] || null;
        unload(shapes);
        shapes = list.length ? load(outlines(list)) : null;
        if (shapes) {
          list.forEach((handle, i) => {
            const rgb = handle === held ? handle.colour : handle.colour.map((v) => Math.round(0.7 * v));
            for (let p = shapes.lines.first[3 * i]; p < shapes.lines.first[3 * i + 3]; p++) shapes.paint.set([...rgb, 255], 4 * p);
          });
          repaint(shapes);
          select(shapes, () => true);
        }
        ask(2);
      },
      // Gives the place of the next click on a slice, mm; null: it was beside all slices.
      pick(take) {
        picking = take;
        canvas.classList.add("picking");
        canvas.focus();
      },
      // Lets the pointer paint on slices: { down(place, axis), move(place), up(), hover(place), press(axis) }; null: no more.
      // A movement of the brush that goes on ends.
      paint(how) {
        lift();
        brush = how;
        canvas.classList.toggle("picking", brush !== null);
        ask();
      },
      facing,
      placeAt,
      // The slices, after whose changes the view is drawn again by ask(); null: there are none.
      slices,
      ask,
      // ODFs on a slice; null: there are none.
      glyphs,
      // Calls look() after each drawing.
      watch(look) { watching = look; },
      // The part of the slice seen most from the front that is in view: { axis, at, low, high }, mm; null: no slice is shown.
      seen() {
        const axis = facing(), row = pane.rows[2];
        if (axis === null) return null;
        const scale = side() * pane.zoom / (2 * reach), half = room().slice(2).map((v) => v / 2 / scale);
        const at = slices.plane[axis].at, low = [...slices.low], high = slices.low.map((v, a) => v + slices.extent[a]);
        const corners = [[-1, -1], [1, -1], [-1, 1], [1, 1]].map(([u, v]) => {
          const from = [0, 1, 2].map((a) => lines.origin[a] + lines.scale * (centre[a] + u * half[0] * pane.rows[0][a] + v * half[1] * pane.rows[1][a]));
          return from.map((p, a) => p + (at - from[axis]) / row[axis] * row[a]);
        });
        return { axis, at: Math.round(100 * at) / 100, low: low.map((v, a) => Math.round(Math.max(v, Math.min(...corners.map((c) => c[a]))))),
          high: high.map((v, a) => Math.round(Math.min(v, Math.max(...corners.map((c) => c[a]))))) };
      },
      // Shows painted regions on the slices, { runs, colour }; grid: dim, and inverse, from mm to voxels, three rows of four.
      painted(grid, list) {
        if (slices) slices.paint(grid, list);
        ask();
      },
    };
  }

  // Outlines of spheres, three circles each, and of boxes, three lines along their edges each, as decode() gives lines.
  function outlines(list) {
    const low = [0, 1, 2].map((a) => Math.min(...list.map((h) => h.at[a] - h.half[a])));
    const scale = Math.max(...[0, 1, 2].map((a) => Math.max(...list.map((h) => h.at[a] + h.half[a])) - low[a])) / 65535;
    const edges = [[[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1], [-1, -1, 1]],
      [[1, -1, -1], [1, -1, 1]], [[-1, 1, 1], [-1, 1, -1], [1, 1, -1], [1, 1, 1]]];
    const circle = (axis) => Array.from({ length: 65 }, (_, i) => {
      const v = [0, 0, 0], angle = 2 * Math.PI * i / 64;
      [v[(axis + 1) % 3], v[(axis + 2) % 3]] = [Math.cos(angle), Math.sin(angle)];
      return v;
    });
    const drawn = list.flatMap((h) => (h.round ? [0, 1, 2].map(circle) : edges)
      .map((line) => line.map((v) => v.map((x, a) => Math.round((h.at[a] + x * h.half[a] - low[a]) / scale)))));
    const points = drawn.reduce((sum, line) => sum + line.length, 0), n = drawn.length;
    const lines = { n, points, scale, origin: low, first: new Uint32Array(n + 1), length: new Float32Array(n),
      place: new Uint16Array(4 * points), tangent: new Int8Array(4 * points) };
    drawn.forEach((line, i) => {
      lines.first[i + 1] = lines.first[i] + line.length;
      line.forEach((v, p) => lines.place.set(v, 4 * (lines.first[i] + p)));
      measure(lines, i);
    });
    return lines;
  }

  // Shows streamlines, their columns, and images: bytes of one as a report has it, or what glslinesSlices() is given; null: none;
  // bytes as glslines packed them. Returns what shows other streamlines, regions and images; null: this browser cannot show the
  // view, and the status says why.
  async function open(bytes, columns, images) {
    if (!gl) return fail("This browser has no WebGL 2.");
    for (const column of columns) if (column.of === "points") column.bytes = await unpack(column.values);
    const lines = decode(bytes), grey = [{ name: "grey", colours: Array.from({ length: 99 }, (_, i) => Math.floor(i / 3) * 255 / 32) }];
    const given = images instanceof Uint8Array ? { bytes: images, wide: false, maps: grey, window: [0, 254] } : images;
    for (;;) {
      while (gl.isContextLost()) await new Promise((back) => { canvas.addEventListener("webglcontextrestored", back, { once: true }); });
      const slices = given && glslinesSlices(gl, build, lines, given), glyphs = given && given.glyphs ? glslinesGlyphs(gl, build, lines) : null;
      const compiles = prepare();
      if (gl.isContextLost()) continue; // none of them is whole
      return compiles ? start(lines, slices, glyphs, columns) : fail("The shaders of the view do not compile here.");
    }
  }
  return { open, unpack, fail, canvas };
})();
