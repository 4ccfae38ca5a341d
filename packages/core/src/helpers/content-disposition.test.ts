import { expect, it } from 'vitest'
import { contentDisposition } from './content-disposition.js'

it.each([
  ['report.txt', 'report.txt', 'report.txt'],
  ['a: b.txt', 'a: b.txt', 'a%3A%20b.txt'],
  ['Ärger 😀.png', '_rger __.png', '%C3%84rger%20%F0%9F%98%80.png'],
  ['"; filename="x.exe', '_; filename=_x.exe', '%22%3B%20filename%3D%22x.exe'],
  ["it's (1)*.txt", "it's (1)*.txt", 'it%27s%20%281%29%2A.txt'],
  ['100%.txt', '100_.txt', '100%25.txt'],
  ['../../etc/passwd', '.._.._etc_passwd', '.._.._etc_passwd'],
  ['a\r\nset-cookie: x', 'a__set-cookie: x', 'a__set-cookie%3A%20x'],
  ['a\\b\0c', 'a_b_c', 'a_b_c'],
  // Shown as "cod.exe" with its letters reversed.
  ['\u202egpj.exe', '_gpj.exe', '_gpj.exe'],
  ['a\u061cb\u200fc\u2067d', 'a_b_c_d', 'a_b_c_d'],
  ['\ud800', '_', '%EF%BF%BD'],
])('%j is sent as the file name %s', (name, plain, exact) => {
  for (const type of ['inline', 'attachment'] as const)
    expect(contentDisposition(type, name)).toBe(`${type}; filename="${plain}"; filename*=UTF-8''${exact}`)
})
