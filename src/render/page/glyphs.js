"use strict";
// ODFs as glyphs on a slice in the 3-D view: surfaces whose distance from the centre is the amplitude, coloured by direction. gl: the
// context; build(vertex, fragment): makes a program; lines: positions count from their origin, in their scale. Returns null where the
// shaders do not compile.
function glslinesGlyphs(gl, build, lines) {
  const vertexText = `#version 300 es
    precision highp float; precision highp sampler2D; in vec3 middle; in float most; uniform sampler2D radii; uniform ivec2 mesh;
    uniform float unit; uniform float scale; uniform vec3 origin;
    uniform vec3 centre; uniform mat3 turn; uniform vec2 zoom; out vec3 direction; out vec3 seen;
    void main() {
      float polar = 3.14159265 * float(gl_VertexID / mesh.y) / float(mesh.x - 1), around = 6.2831853 * float(gl_VertexID % mesh.y) / float(mesh.y);
      direction = vec3(sin(polar) * cos(around), sin(polar) * sin(around), cos(polar));
      float radius = texelFetch(radii, ivec2(gl_VertexID, gl_InstanceID), 0).r * most * unit;
      vec3 p = turn * ((middle + radius * direction - origin) / scale - centre);
      gl_Position = vec4(p.xy * zoom, -p.z * 0.5, 1.0);
      seen = p;
    }`;
  const fragmentText = `#version 300 es
    precision highp float; in vec3 direction; in vec3 seen; out vec4 pixel;
    void main() {
      vec3 normal = normalize(cross(dFdx(seen), dFdy(seen)));
      vec3 colour = (40.0 + 215.0 * abs(normalize(direction))) / 255.0;
      pixel = vec4(colour * (0.3 + 0.7 * abs(normal.z)), 1.0);
    }`;
  const at = (name) => gl.getUniformLocation(program, name);
  let program, array, instances, index, radii, n, mesh, unit, count;
  // Makes what is on the device, without glyphs. Returns whether the shaders compile.
  function prepare() {
    program = build(vertexText, fragmentText);
    if (!program) return false;
    [array, instances, index, radii] = [gl.createVertexArray(), gl.createBuffer(), gl.createBuffer(), gl.createTexture()];
    [n, mesh, unit, count] = [0, [0, 0], 1, 0];
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, instances);
    for (const [name, size, offset] of [["middle", 3, 0], ["most", 1, 12]]) {
      const place = gl.getAttribLocation(program, name);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, size, gl.FLOAT, false, 16, offset);
      gl.vertexAttribDivisor(place, 1);
    }
    gl.bindVertexArray(null);
    return true;
  }
  if (!prepare()) return null;
  let last = null; // the answer that is shown

  // The triangles of a mesh of rings and meridians.
  function triangles(rings, meridians) {
    const list = [];
    for (let ring = 0; ring + 1 < rings; ring++)
      for (let m = 0; m < meridians; m++) {
        const p = ring * meridians + m, q = ring * meridians + (m + 1) % meridians;
        list.push(p, q, p + meridians, q, q + meridians, p + meridians);
      }
    return Uint16Array.from(list);
  }
  return {
    scale: 1, // of the radii
    // Shows the glyphs of an answer: u32 their number at byte 8, u16 rings, u16 meridians, f32 mm of the amplitude 1, f32 centre and
    // largest amplitude of each, u8 amplitudes of each.
    show(buffer) {
      last = buffer;
      const view = new DataView(buffer), [rings, meridians] = [view.getUint16(12, true), view.getUint16(14, true)];
      n = view.getUint32(8, true);
      unit = view.getFloat32(16, true);
      gl.bindVertexArray(array);
      if (mesh[0] !== rings || mesh[1] !== meridians) {
        const list = triangles(rings, meridians);
        [mesh, count] = [[rings, meridians], list.length];
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, index);
        gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, list, gl.STATIC_DRAW);
      }
      gl.bindBuffer(gl.ARRAY_BUFFER, instances);
      gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(buffer, 20, 4 * n), gl.DYNAMIC_DRAW);
      gl.bindVertexArray(null);
      gl.activeTexture(gl.TEXTURE7);
      gl.bindTexture(gl.TEXTURE_2D, radii);
      gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1);
      gl.texImage2D(gl.TEXTURE_2D, 0, gl.R8, rings * meridians, Math.max(n, 1), 0, gl.RED, gl.UNSIGNED_BYTE,
        n ? new Uint8Array(buffer, 20 + 16 * n, n * rings * meridians) : null);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, gl.NEAREST);
      gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, gl.NEAREST);
    },
    hide() { n = 0; last = null; },
    // Makes all anew on a device that has lost it. Returns whether the shaders compile.
    upload() {
      if (!prepare()) return false;
      if (last) this.show(last);
      return true;
    },
    // Draws them. aim(program): uses the program, and sets the numbers of the view.
    draw(aim) {
      if (n === 0) return;
      aim(program);
      gl.activeTexture(gl.TEXTURE5);
      gl.bindTexture(gl.TEXTURE_2D, radii);
      gl.uniform1i(at("radii"), 5);
      gl.uniform2i(at("mesh"), ...mesh);
      gl.uniform1f(at("unit"), unit * this.scale);
      gl.uniform1f(at("scale"), lines.scale);
      gl.uniform3fv(at("origin"), lines.origin);
      gl.bindVertexArray(array);
      gl.drawElementsInstanced(gl.TRIANGLES, count, gl.UNSIGNED_SHORT, 0, n);
      gl.bindVertexArray(null);
    },
  };
}

// Asks for the glyphs of the part of a slice that is seen, of the slice that is seen most from the front, as often as the view has
// changed. ask(make): sends the question that make() returns as soon as the server is free.
function glslinesFods(stage, scene, ask, answers) {
  const get = (id) => document.getElementById(id), shown = get("fods-shown"), said = get("fods-said");
  let last = "", rest = 0;
  if (!scene.glyphs || !stage.glyphs) return;
  get("fods").hidden = false;
  function look() {
    const seen = shown.checked ? stage.seen() : null, key = JSON.stringify(seen);
    if (key === last) return;
    last = key;
    clearTimeout(rest);
    if (seen) rest = setTimeout(() => ask(() => seen), 100);
    else stage.glyphs.hide();
    said.textContent = "";
    stage.ask();
  }
  shown.addEventListener("change", look);
  get("fods-scale").addEventListener("input", () => {
    stage.glyphs.scale = 2 ** Number(get("fods-scale").value);
    stage.ask();
  });
  answers.glyphs = (answer) => {
    said.textContent = answer.error || answer.glyphs + " glyphs" + (answer.step > 1 ? ", of every voxel number " + answer.step + " of rows and columns" : "");
  };
  // the bytes behind the answer
  answers.glyphBytes = (buffer) => {
    if (!shown.checked) return;
    stage.glyphs.show(buffer);
    stage.ask();
  };
  stage.watch(look);
}
