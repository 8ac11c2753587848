#include "server/lab/report/html_page.h"

namespace respite {

namespace {

// The Content-Security-Policy forbids the browser to load anything.
constexpr Bytes kHead = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width">
<title>Requests by time</title>
<style>
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1d2530; --faint: #6b7685; --line: #dfe4ea; --head: #f5f7f9; --stripe: #fafbfc;
  --lock: #2f7dd1; --lock-over: #d9822b; --wait: #9aa5b4; --error: #c22f3d; --error-back: #fdecee;
  --fault: #8a3fb0; --fault-back: #f5ebfa; --expired: #b36b00; --expired-back: #fff4e0;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14181d; --ink: #dde4ec; --faint: #8b97a6; --line: #2b333d; --head: #1b2027; --stripe: #171c22;
    --lock: #5aa2ee; --lock-over: #e59a4e; --wait: #5d6a7a; --error: #ff7a86; --error-back: #3a1d22;
    --fault: #cf93ee; --fault-back: #2f2038; --expired: #f0b45a; --expired-back: #34280f;
  }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 13px/1.4 system-ui, sans-serif; display: flex;
  flex-direction: column; height: 100vh; }
.top { display: flex; gap: 16px; align-items: baseline; padding: 10px 14px; flex-wrap: wrap; }
.summary { margin: 0; padding: 10px 14px 0; font-weight: 600; }
.legend { color: var(--faint); }
.legend b { display: inline-block; width: 10px; height: 10px; border-radius: 3px; margin: 0 4px 0 10px; }
input { font: inherit; padding: 3px 8px; border: 1px solid var(--line); border-radius: 4px; background: var(--paper);
  color: var(--ink); width: 240px; }
#view { flex: 1; overflow: auto; border-top: 1px solid var(--line); position: relative; }
#heads { position: sticky; top: 0; z-index: 3; background: var(--head); border-bottom: 1px solid var(--line); height: 46px; }
.head { position: absolute; top: 0; height: 46px; padding: 5px 8px; border-left: 1px solid var(--line); overflow: hidden;
  white-space: nowrap; text-overflow: ellipsis; font-weight: 600; }
.head small { display: block; color: var(--faint); font-weight: 400; overflow: hidden; text-overflow: ellipsis; }
#rows { position: relative; }
.row { position: absolute; left: 0; right: 0; height: 22px; }
.row.odd { background: var(--stripe); }
.row.hit { background: color-mix(in srgb, var(--lock) 18%, transparent); }
.time { position: absolute; left: 0; width: 96px; text-align: right; padding: 2px 10px 0 0; color: var(--faint);
  font: 12px/18px ui-monospace, monospace; }
.cell { position: absolute; top: 1px; height: 20px; line-height: 18px; padding: 0 6px; border-radius: 4px;
  border: 1px solid transparent; white-space: nowrap; display: flex; font: 12px/18px ui-monospace, monospace; z-index: 2; }
.what, .end { overflow: hidden; text-overflow: ellipsis; min-width: 0; }
.end { flex: none; max-width: 62%; opacity: .85; margin-left: 8px; }
.m, .o .end { color: var(--faint); }
.e { color: var(--error); background: var(--error-back); border-color: var(--error); }
.f { color: var(--fault); background: var(--fault-back); border-color: var(--fault); }
.b { color: var(--faint); border: 1px dashed var(--wait); }
.x { color: var(--expired); background: var(--expired-back); border-color: var(--expired); }
.inner { border-left: 3px solid var(--line); }
.edge { position: absolute; width: 1px; background: var(--line); top: 0; bottom: 0; }
.lock { position: absolute; width: 8px; border-radius: 4px; background: var(--lock); z-index: 1; }
.lock.over { background: linear-gradient(var(--lock), var(--lock-over)); }
.wait { position: absolute; width: 0; border-left: 2px dashed var(--wait); z-index: 1; }
pre { padding: 0 14px; overflow: auto; }
</style>
</head>
<body>
)html";

constexpr Bytes kTail = R"html(<div class="top">
<input id="find" type="search" placeholder="find, Enter for the next one" aria-label="find">
<span class="legend"><b style="background:var(--lock)"></b>lock held<b style="background:var(--lock-over)"></b>its time was over
<b style="background:var(--wait)"></b>waits<b style="background:var(--error)"></b>error<b style="background:var(--fault)"></b>fault
<b style="background:var(--expired)"></b>key expired</span>
</div>
<div id="view"><div id="heads"></div><div id="rows"></div></div>
<script>
'use strict';
const data = JSON.parse(document.getElementById('data').textContent);
const view = document.getElementById('view'), heads = document.getElementById('heads'), rows = document.getElementById('rows');
const find = document.getElementById('find');
const HEIGHT = 22, TIME = 100, LANE = 11;
let width = 0, wanted = '';
function make(parent, name, text) {
  const element = document.createElement('div');
  element.className = name;
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}
const ms = (us) => (us / 1000).toFixed(3);
const left = (column) => TIME + column * width;
function lay() {
  const columns = Math.max(data.columns.length, 1);
  width = Math.max(210, Math.floor((view.clientWidth - TIME) / columns));
  heads.style.width = rows.style.width = TIME + columns * width + 'px';
  rows.style.height = (data.rows.length + 1) * HEIGHT + 'px';
  heads.replaceChildren();
  data.columns.forEach(([name, library, address], column) => {
    const head = make(heads, 'head', name);
    head.style.left = left(column) + 'px';
    head.style.width = width + 'px';
    const about = document.createElement('small');
    about.textContent = [library, address].filter(Boolean).join('  ');
    head.append(about);
    head.title = name + '  ' + about.textContent;
  });
  draw();
}
function drawRow(number) {
  const [at, column, kind, level, text, end] = data.rows[number];
  const hit = wanted && (text + ' ' + end).toLowerCase().includes(wanted);
  const row = make(rows, 'row' + (number % 2 ? ' odd' : '') + (hit ? ' hit' : ''));
  row.style.top = number * HEIGHT + 'px';
  make(row, 'time', ms(at));
  const lanes = column < 0 ? 0 : data.columns[column][3];
  const cell = make(row, 'cell ' + kind + (level ? ' inner' : ''));
  make(cell, 'what', text);
  const indent = lanes * LANE + 6 + level * 14;
  cell.style.left = left(Math.max(column, 0)) + indent + 'px';
  cell.style.maxWidth = width - indent - 4 + 'px';
  if (end) make(cell, 'end', '\u2192 ' + end);
  const client = column < 0 ? '' : data.columns[column][0] + ': ';
  cell.title = ms(at) + ' ms  ' + client + text + (end ? '  \u2192 ' + end : '');
}
function drawSpan(name, column, lane, from, to) {
  const span = make(rows, name);
  span.style.left = left(column) + 5 + lane * LANE + 'px';
  span.style.top = from * HEIGHT / 2 + 'px';
  span.style.height = Math.max((to - from) * HEIGHT / 2, 4) + 'px';
  return span;
}
function draw() {
  const first = Math.max(0, Math.floor(view.scrollTop / HEIGHT) - 20);
  const last = Math.min(data.rows.length, Math.ceil((view.scrollTop + view.clientHeight) / HEIGHT) + 20);
  rows.replaceChildren();
  data.columns.forEach((_, column) => { make(rows, 'edge').style.left = left(column) + 'px'; });
  for (const [column, from, to] of data.waits) {
    if (to >= 2 * first && from <= 2 * last) drawSpan('wait', column, data.columns[column][3], from, to);
  }
  for (const [column, lane, from, to, key, end, over] of data.locks) {
    if (to < 2 * first || from > 2 * last) continue;
    drawSpan('lock' + (over ? ' over' : ''), column, lane, from, to).title = key + ', ' + end;
  }
  for (let number = first; number < last; number++) drawRow(number);
}
let next = 0;
find.addEventListener('input', () => { wanted = find.value.toLowerCase(); next = 0; draw(); });
find.addEventListener('keydown', (event) => {
  if (event.key !== 'Enter' || !wanted) return;
  for (let step = 0; step < data.rows.length; step++) {
    const number = (next + step) % data.rows.length;
    if (!(data.rows[number][4] + ' ' + data.rows[number][5]).toLowerCase().includes(wanted)) continue;
    view.scrollTop = Math.max(0, number * HEIGHT - view.clientHeight / 2);
    next = number + 1;
    return draw();
  }
});
let asked = false;
view.addEventListener('scroll', () => {
  if (asked) return;
  asked = true;
  requestAnimationFrame(() => { asked = false; draw(); });
});
addEventListener('resize', lay);
lay();
</script>
</body>
</html>
)html";

}  // namespace

HtmlPage TheHtmlPage() { return {kHead, kTail}; }

}  // namespace respite
