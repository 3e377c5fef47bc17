"use strict";
// Slices in the 3-D view: an image, another one over it, labels and painted regions. gl: the context; build(vertex, fragment): makes
// a program; lines: positions count from their origin, in their scale. given: bytes, the first image, or null; wide: its values have 16 bits
// each; maps: [{ name, colours }], 33 colours each; and perhaps box { low, extent } of all images in mm, window, values that get
// the first and the last colour, and map, its number. Returns null where the shaders do not compile.
function glslinesSlices(gl, build, lines, given) {
  // A slice: a square of the box of all images.
  const vertexText = `#version 300 es
    in vec3 corner; uniform vec3 centre; uniform mat3 turn; uniform vec2 zoom; uniform vec3 first; uniform vec3 size; out vec3 at;
    void main() {
      vec3 p = turn * (first + corner * size - centre);
      gl_Position = vec4(p.xy * zoom, -p.z * 0.5, 1.0);
      at = corner;
    }`;
  // Values are 0, nothing, and 1 to 65535. place: of an image in the box, 0 to 1; window: of the values that get the first and the
  // last colour, row of the table of maps, opacity.
  const fragmentText = `#version 300 es
    precision highp float; precision highp sampler3D; precision highp usampler3D; in vec3 at; out vec4 pixel;
    uniform usampler3D back; uniform usampler3D front; uniform usampler3D labels; uniform sampler2D maps; uniform sampler2D palette;
    uniform vec3 low[3]; uniform vec3 extent[3]; uniform vec4 window[3];
    uniform sampler3D painted; uniform ivec3 dim; uniform mat4x3 voxel; uniform vec3 shades[32];
    uint value(usampler3D image, int i) {
      vec3 p = (at - low[i]) / extent[i];
      return all(greaterThanEqual(p, vec3(0.0))) && all(lessThanEqual(p, vec3(1.0))) ? texture(image, p).r : 0u;
    }
    float share(uint v, int i) { return (float(v) - window[i].x) / max(window[i].y - window[i].x, 1e-6); }
    vec3 colour(float x, int i) { return texture(maps, vec2((clamp(x, 0.0, 1.0) * 32.0 + 0.5) / 33.0, window[i].z)).rgb; }
    void main() {
      uint b = value(back, 0), f = value(front, 1), l = value(labels, 2);
      float over = share(f, 1);
      bool seen = f > 0u && over >= 0.0 && window[1].w > 0.0, named = l > 0u && window[2].w > 0.0;
      ivec3 p = ivec3(floor(voxel * vec4(at, 1.0) + 0.5));
      int region = all(greaterThanEqual(p, ivec3(0))) && all(lessThan(p, dim)) ? int(texelFetch(painted, p, 0).r * 255.0 + 0.5) : 0;
      if (b == 0u && region == 0 && !seen && !named) discard;
      vec3 mixed = b == 0u ? vec3(0.0) : colour(share(b, 0), 0);
      if (seen) mixed = mix(mixed, colour(over, 1), window[1].w);
      if (named) mixed = mix(mixed, texelFetch(palette, ivec2(l & 255u, l >> 8u), 0).rgb, window[2].w);
      pixel = vec4(region > 0 ? mix(mixed, shades[region - 1], 0.6) : mixed, 1.0);
    }`;
  let program = null;
  function texture(kind, filter, format, size, from, type, values) {
    const made = gl.createTexture(), make = kind === gl.TEXTURE_3D ? "texImage3D" : "texImage2D";
    gl.activeTexture(gl.TEXTURE7); // the one in which nothing is drawn
    gl.bindTexture(kind, made);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl[make](kind, 0, format, ...size, 0, from, type, values);
    for (const [key, value] of [[gl.TEXTURE_MIN_FILTER, filter], [gl.TEXTURE_MAG_FILTER, filter], [gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE],
      [gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE], [gl.TEXTURE_WRAP_R, gl.CLAMP_TO_EDGE]])
      if (kind === gl.TEXTURE_3D || key !== gl.TEXTURE_WRAP_R) gl.texParameteri(kind, key, value);
    return made;
  }
  const volumeTexture = ({ dim, values }) => texture(gl.TEXTURE_3D, gl.NEAREST, gl.R16UI, dim, gl.RED_INTEGER, gl.UNSIGNED_SHORT, values);
  const volumes = [];
  function volume(made) {
    volumes.push(made);
    return Object.assign(made, { texture: volumeTexture(made) });
  }
  // u32 dim[3], f32 voxel mm, f32 centre of the first voxel[3]; then, of a report, bytes; else f32 values that 1 and 65535 mean,
  // and 16 bits each
  function read(bytes, wide) {
    const view = new DataView(bytes.buffer, bytes.byteOffset), dim = [0, 4, 8].map((at) => view.getUint32(at, true));
    const voxel = view.getFloat32(12, true), n = dim[0] * dim[1] * dim[2];
    const values = wide ? new Uint16Array(bytes.buffer, bytes.byteOffset + 36, n) : Uint16Array.from(bytes.subarray(28));
    return volume({ low: [16, 20, 24].map((at) => view.getFloat32(at, true) - voxel / 2), extent: dim.map((d) => d * voxel),
      range: wide ? [view.getFloat32(28, true), view.getFloat32(32, true)] : [0, 65534], dim, values });
  }
  let nothing = null, maps = null, palette = null, buffer = null, array = null, painted = null;
  let colours = new Uint8Array(768); // of labels, 256 in a row
  const byteTexture = (dim, values) => texture(gl.TEXTURE_3D, gl.NEAREST, gl.R8, dim, gl.RED, gl.UNSIGNED_BYTE, values);
  const colourTexture = (filter, width, values) =>
    texture(gl.TEXTURE_2D, filter, gl.RGB8, [width, values.length / (3 * width)], gl.RGB, gl.UNSIGNED_BYTE, values);
  // Makes all on the device from what the page keeps. Returns whether the shaders compile.
  function upload() {
    program = build(vertexText, fragmentText);
    if (!program) return false;
    [buffer, array] = [gl.createBuffer(), gl.createVertexArray()];
    nothing = byteTexture([1, 1, 1], new Uint8Array(1));
    maps = colourTexture(gl.LINEAR, 33, Uint8Array.from(given.maps.flatMap((map) => map.colours)));
    palette = colourTexture(gl.NEAREST, 256, colours);
    volumes.forEach((made) => { made.texture = volumeTexture(made); });
    if (painted) painted.texture = byteTexture(painted.dim, painted.bytes);
    return true;
  }
  if (!upload()) return null;
  const none = volume({ low: [0, 0, 0], extent: [1, 1, 1], range: [0, 1], dim: [1, 1, 1], values: new Uint16Array(1) });

  const first = given.bytes ? read(given.bytes, given.wide) : none, { low, extent } = given.box || first;
  // what is shown: the volume, the values that get the first and the last colour, the number of the map, the opacity
  const layers = [{ volume: first, window: given.window || first.range, map: given.map || 0, opacity: 1 },
    { volume: none, window: [0, 1], map: 0, opacity: 0 }, { volume: none, window: [0, 1], map: 0, opacity: 0 }];
  const plane = extent.map((v, a) => ({ shown: true, at: low[a] + v / 2 }));

  function bind() {
    const at = (name) => gl.getUniformLocation(program, name), raw = ({ volume, window }) => window.map((v) =>
      1 + 65534 * (v - volume.range[0]) / ((volume.range[1] - volume.range[0]) || 1));
    const units = [["back", gl.TEXTURE_3D, layers[0].volume.texture], ["painted", gl.TEXTURE_3D, painted ? painted.texture : nothing],
      ["front", gl.TEXTURE_3D, layers[1].volume.texture], ["labels", gl.TEXTURE_3D, layers[2].volume.texture], ["maps", gl.TEXTURE_2D, maps],
      ["palette", gl.TEXTURE_2D, palette]];
    units.forEach(([name, kind, made], i) => {
      gl.activeTexture(gl.TEXTURE0 + i);
      gl.bindTexture(kind, made);
      gl.uniform1i(at(name), i);
    });
    gl.uniform3fv(at("low"), layers.flatMap(({ volume }) => volume.low.map((v, a) => (v - low[a]) / extent[a])));
    gl.uniform3fv(at("extent"), layers.flatMap(({ volume }) => volume.extent.map((v, a) => v / extent[a])));
    gl.uniform4fv(at("window"), layers.flatMap((layer) => [...raw(layer), (layer.map + 0.5) / given.maps.length, layer.opacity]));
    gl.uniform3iv(at("dim"), painted ? painted.dim : [0, 0, 0]);
    if (!painted) return;
    gl.uniformMatrix4x3fv(at("voxel"), false, painted.voxel);
    gl.uniform3fv(at("shades"), painted.shades);
  }

  const slices = { low, extent, plane, near: false, first: low.map((v, a) => (v - lines.origin[a]) / lines.scale), size: extent.map((v) => v / lines.scale),
    none, read, layers, upload };
  // Draws the slices. aim(program): uses the program, and sets the numbers of the view; only: axis of the only slice; null: all that are
  // shown.
  slices.draw = (aim, only) => {
    const at = aim(program), corner = gl.getAttribLocation(program, "corner");
    gl.uniform3fv(at("first"), slices.first);
    gl.uniform3fv(at("size"), slices.size);
    bind();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.enableVertexAttribArray(corner);
    gl.vertexAttribPointer(corner, 3, gl.FLOAT, false, 0, 0);
    plane.forEach(({ shown, at: place }, a) => {
      if (only === null ? !shown : a !== only) return;
      const share = (place - low[a]) / extent[a], [b, c] = [(a + 1) % 3, (a + 2) % 3];
      const square = [[0, 0], [1, 0], [0, 1], [1, 1]].flatMap(([u, v]) => {
        const p = [0, 0, 0];
        [p[a], p[b], p[c]] = [share, u, v];
        return p;
      });
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(square), gl.DYNAMIC_DRAW);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    });
    gl.bindVertexArray(null);
  };
  // Takes the colours of labels: [red, green, blue] of each value of their volume from 1 on.
  slices.colours = (list) => {
    colours = new Uint8Array(768 * Math.ceil((list.length + 1) / 256));
    list.forEach((rgb, i) => colours.set(rgb, 3 * (i + 1)));
    gl.deleteTexture(palette);
    palette = colourTexture(gl.NEAREST, 256, colours);
  };
  // Shows painted regions, { runs, colour }; grid: dim, and inverse, from mm to voxels, three rows of four.
  slices.paint = (grid, list) => {
    const [nx, ny, nz] = grid.dim, slab = nx * ny;
    let least = nz, most = -1;
    if (!painted) {
      const row = (r) => grid.inverse.slice(4 * r, 4 * r + 4), rows = [0, 1, 2].map(row);
      // from the corners of the slices, 0 to 1, to voxels; by columns
      painted = { dim: grid.dim, bytes: new Uint8Array(slab * nz), shades: new Float32Array(96), list: [],
        texture: byteTexture(grid.dim, null),
        voxel: [0, 1, 2, 3].flatMap((c) => rows.map((m) => c < 3 ? m[c] * extent[c] : m[3] + [0, 1, 2].reduce((sum, a) => sum + m[a] * low[a], 0))) };
    }
    const { bytes, shades } = painted;
    const put = (runs, value) => {
      for (let i = 0; i < runs.length; i += 2) {
        bytes.fill(value, runs[i], runs[i] + runs[i + 1]);
        least = Math.min(least, Math.floor(runs[i] / slab));
        most = Math.max(most, Math.floor((runs[i] + runs[i + 1] - 1) / slab));
      }
    };
    painted.list.forEach((region) => put(region.runs, 0));
    painted.list = list.slice(0, 32);
    painted.list.forEach((region, i) => {
      put(region.runs, i + 1);
      shades.set(region.colour.map((v) => v / 255), 3 * i);
    });
    if (least > most) return;
    gl.activeTexture(gl.TEXTURE7);
    gl.bindTexture(gl.TEXTURE_3D, painted.texture);
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
    gl.texSubImage3D(gl.TEXTURE_3D, 0, 0, 0, least, nx, ny, most - least + 1, gl.RED, gl.UNSIGNED_BYTE, bytes, least * slab);
  };
  return slices;
}
