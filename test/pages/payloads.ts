const HIT = `globalThis.hit=1;alert('hit')`

/** Texts that would run a script where a page makes HTML, a URL or code of them. */
export const payloads: readonly string[] = [
  `<script>${HIT}</script>`,
  `<img src=x onerror="${HIT}">`,
  `<svg onload="${HIT}">`,
  `"><script>${HIT}</script>`,
  `'><img src=x onerror=${HIT}>`,
  `</title></style></textarea></script><script>${HIT}</script>`,
  `<iframe srcdoc="<script>parent.hit=1</script>"></iframe>`,
  `<a href="javascript:${HIT}">a link</a>`,
  `javascript:${HIT}//`,
  `[a link](javascript:${HIT})`,
  `![x](x"onerror="${HIT})`,
  '{{constructor.constructor("globalThis.hit=1")()}}',
  '${globalThis.hit=1}',
  `<details open ontoggle="${HIT}">`,
  `<base href="https://evil.example/"><form action="https://evil.example/"><input autofocus onfocus="${HIT}">`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<link rel="stylesheet" href="https://evil.example/a.css">`,
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=globalThis.hit=1&gt;">',
  '__proto__',
  '\u202Egnp.exe',
]
