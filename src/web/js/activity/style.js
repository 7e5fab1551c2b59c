/** How `<cap-activity>` looks. An app changes it by the properties named here, or by `::part(…)`. */
export const STYLE = `
:host {
  display: block;
  --_color: var(--cap-activity-color, light-dark(#1f2328, #e6edf3));
  --_muted: var(--cap-activity-muted, light-dark(#59636e, #9da7b1));
  --_background: var(--cap-activity-background, light-dark(#ffffff, #151b23));
  --_border: var(--cap-activity-border, light-dark(#d1d9e0, #3d444d));
  --_accent: var(--cap-activity-accent, light-dark(#0a58ca, #6cb6ff));
  --_danger: var(--cap-activity-danger, light-dark(#b42318, #ff8f85));
  --_radius: var(--cap-activity-radius, 8px);
  --_gap: var(--cap-activity-gap, 8px);
  font: var(--cap-activity-font, 14px/1.4 system-ui, sans-serif);
  color: var(--_color);
}
:host([hidden]) { display: none; }
/* Names are others': what runs from right to left there ends with its element. */
span { unicode-bidi: isolate; }
section, ul { margin: 0; padding: 0; }
section { display: grid; gap: var(--_gap); outline: none; }
ul { display: grid; gap: var(--_gap); list-style: none; }
ul:empty, [hidden] { display: none !important; }
.none, .more { margin: 0; color: var(--_muted); }
.call {
  display: grid;
  grid-template: 'head stop' 'state elapsed' 'progress progress' / 1fr auto;
  gap: 4px 12px;
  align-items: center;
  padding: 10px 12px;
  color: var(--_color);
  background: var(--_background);
  border: 1px solid var(--_border);
  border-radius: var(--_radius);
}
.head { grid-area: head; }
.state { grid-area: state; }
.head, .state { min-width: 0; overflow-wrap: anywhere; }
.name { font-weight: 600; }
.agent, .state, .elapsed { color: var(--_muted); }
.state[tabindex] { outline-offset: 2px; }
.elapsed { grid-area: elapsed; font-variant-numeric: tabular-nums; text-align: end; }
.call.cancelled .state, .call.failed .state { color: var(--_color); }
progress { grid-area: progress; inline-size: 100%; block-size: 6px; accent-color: var(--_accent); }
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
button:focus-visible, .state:focus-visible { outline: 2px solid var(--_accent); outline-offset: 2px; }
button[aria-disabled='true'] { color: var(--_muted); cursor: default; }
.said { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (forced-colors: active) { button { border-color: ButtonBorder; } }
`;
