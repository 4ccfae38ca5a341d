import { sample } from '../support/scope.js'

const HIT = `globalThis.hit=1;alert('hit')`

/** Texts that would run a script where a page makes HTML, a URL or code of them. */
export const payloads: readonly string[] = [
  `<script>${HIT}</script>`,
  `<img src=x onerror="${HIT}">`,
  `javascript:${HIT}//`,
  `[a link](javascript:${HIT})`,
  '{{constructor.constructor("globalThis.hit=1")()}}',
  `<svg onload="${HIT}">`,
  `"><script>${HIT}</script>`,
  `'><img src=x onerror=${HIT}>`,
  `</title></style></textarea></script><script>${HIT}</script>`,
  `<iframe srcdoc="<script>parent.hit=1</script>"></iframe>`,
  `<a href="javascript:${HIT}">a link</a>`,
  `![x](x"onerror="${HIT})`,
  '${globalThis.hit=1}',
  `<details open ontoggle="${HIT}">`,
  `<base href="https://evil.example/"><form action="https://evil.example/"><input autofocus onfocus="${HIT}">`,
  `<meta http-equiv="refresh" content="0;url=https://evil.example/">`,
  `<link rel="stylesheet" href="https://evil.example/a.css">`,
  '<math><mtext><table><mglyph><style><!--</style><img title="--&gt;&lt;img src=1 onerror=globalThis.hit=1&gt;">',
  '__proto__',
  '\u202Egnp.exe',
]

/** Those that are tried one by one; the others are tried within longer texts. */
export const single = sample(payloads, 5)
