/** The style of `<cap-activity>`. An app changes it with the properties named here, or with `::part(…)`. */
export const STYLE = `
:host {
  display: block;
  --_color: var(--cap-activity-color, light-dark(#1f2328, #e6edf3));
  --_muted: var(--cap-activity-muted, light-dark(#59636e, #9da7b1));
  --_background: var(--cap-activity-background, light-dark(#ffffff, #151b23));
  --_border: var(--cap-activity-border, light-dark(#d1d9e0, #3d444d));
  --_accent: var(--cap-activity-accent, light-dark(#0a58ca, #6cb6ff));
  --_danger: var(--cap-activity-danger, light-dark(#b42318, #ff8f85));
  --_success: var(--cap-activity-success, light-dark(#1a6b32, #7fcf98));
  --_warning: var(--cap-activity-warning, light-dark(#805000, #e3b341));
  --_stopped: var(--cap-activity-stopped, light-dark(#8a2f6d, #eda6d3));
  --_radius: var(--cap-activity-radius, 8px);
  --_gap: var(--cap-activity-gap, 8px);
  font: var(--cap-activity-font, 14px/1.4 system-ui, sans-serif);
  color: var(--_color);
}
:host([hidden]) { display: none; }
/* Names are others': what runs from right to left there ends with its element. */
span, dt, dd { unicode-bidi: isolate; }
section, ul { margin: 0; padding: 0; }
section { display: grid; gap: var(--_gap); outline: none; }
ul { display: grid; gap: var(--_gap); list-style: none; }
ul:empty, [hidden] { display: none !important; }
.none, .more { margin: 0; color: var(--_muted); }
.call {
  --_state: var(--_muted);
  display: grid;
  grid-template: 'icon head stop' 'icon state elapsed' 'params params params' 'answers answers answers' 'progress progress progress' / auto 1fr auto;
  gap: 4px 12px;
  align-items: center;
  padding: 10px 12px;
  color: var(--_color);
  background: var(--_background);
  border: 1px solid var(--_border);
  border-inline-start: 4px solid var(--_state);
  border-radius: var(--_radius);
}
.running { --_state: var(--_accent); }
.asking { --_state: var(--_warning); }
.completed { --_state: var(--_success); }
.failed { --_state: var(--_danger); }
.cancelling, .cancelled { --_state: var(--_stopped); }
.unsure { --_state: var(--_warning); }
.icon {
  grid-area: icon;
  box-sizing: border-box;
  inline-size: 28px;
  block-size: 28px;
  padding: 5px;
  color: var(--_state);
  border: 1.5px solid currentColor;
  border-radius: 50%;
  fill: none;
  stroke: currentColor;
  stroke-width: 2;
  stroke-linecap: round;
  stroke-linejoin: round;
}
.cancelling .icon { border-style: dashed; }
.running .icon { fill: currentColor; }
.over .icon { color: var(--_background); background: var(--_state); border-color: var(--_state); }
.cancelled .icon { fill: currentColor; }
.head { grid-area: head; }
.state { grid-area: state; }
.head, .state { min-width: 0; overflow-wrap: anywhere; }
.name { font-weight: 600; }
.agent, .elapsed { color: var(--_muted); }
.state { color: var(--_state); }
.state[tabindex] { outline-offset: 2px; }
.elapsed { grid-area: elapsed; font-variant-numeric: tabular-nums; text-align: end; white-space: nowrap; }
/* Where there is little room, how a call ended takes two lines. */
@media (max-width: 480px) {
  .call { grid-template-areas: 'icon head stop' 'icon head elapsed' 'state state state' 'params params params' 'answers answers answers' 'progress progress progress'; }
  .state { min-block-size: 2lh; }
}
/* What an agent wants to do, for a person to judge: nothing of it is cut off without a word. */
.params {
  grid-area: params;
  display: grid;
  grid-template-columns: fit-content(40%) 1fr;
  gap: 2px 12px;
  max-block-size: 12lh;
  overflow: auto;
  margin: 4px 0 0;
  padding: 6px 10px;
  border: 1px solid var(--_border);
  border-radius: calc(var(--_radius) - 2px);
  font-size: 0.93em;
}
dt { color: var(--_muted); }
dt, dd { margin: 0; min-inline-size: 0; overflow-wrap: anywhere; }
dd { font-family: ui-monospace, monospace; }
.answers { grid-area: answers; display: flex; gap: 8px; justify-content: flex-end; margin-block-start: 4px; }
.answers button { min-inline-size: 88px; }
.allow { color: var(--_background); background: var(--_accent); border-color: var(--_accent); }
.deny { color: var(--_color); }
progress {
  grid-area: progress;
  appearance: none;
  inline-size: 100%;
  block-size: 6px;
  background: var(--_border);
  border: 0;
  border-radius: 3px;
  overflow: hidden;
}
::-webkit-progress-bar { background: transparent; }
::-webkit-progress-value { background: var(--_state); }
::-moz-progress-bar { background: var(--_state); }
:indeterminate::-moz-progress-bar { background: transparent; }
/* How far it is, nobody knows. */
progress:indeterminate { background: repeating-linear-gradient(115deg, var(--_border) 0 8px, var(--_state) 8px 12px) 0 / 200% 100%; }
@media (prefers-reduced-motion: no-preference) {
  progress:indeterminate { background: linear-gradient(90deg, var(--_border) 30%, var(--_state) 50%, var(--_border) 70%) 100% / 300% 100%; animation: sweep 1.8s linear infinite; }
  @keyframes sweep { to { background-position: 0 0; } }
}
.unseen { visibility: hidden; }
button {
  justify-self: end;
  font: inherit;
  font-weight: 600;
  min-block-size: 28px;
  padding: 2px 12px;
  color: var(--_danger);
  background: transparent;
  border: 1px solid currentColor;
  border-radius: calc(var(--_radius) - 2px);
  cursor: pointer;
}
.stop { grid-area: stop; }
button:focus-visible, .state:focus-visible, .params:focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
button[aria-disabled='true'] { color: var(--_muted); background: transparent; border: 1px dashed var(--_border); cursor: default; }
.said { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (forced-colors: active) {
  button { border-color: ButtonBorder; }
  .over .icon { color: CanvasText; background: Canvas; }
  progress { border: 1px solid CanvasText; }
  ::-webkit-progress-value { background: Highlight; forced-color-adjust: none; }
  ::-moz-progress-bar { background: Highlight; forced-color-adjust: none; }
}
`;
