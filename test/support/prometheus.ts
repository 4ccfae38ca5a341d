import { expect } from 'vitest'

/** A metric with its samples, by series. */
export interface Family {
  name: string
  type: string
  samples: Map<string, number>
}

const label = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\\\|\\"|\\n)*)"/y
const sample = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/

/** The labels of a series; whatever is not in the grammar fails. */
function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (let at = 0; at < text.length;) {
    label.lastIndex = at
    const [all, name, value] = label.exec(text) ?? []
    expect(all, `labels ${text}`).toBeDefined()
    expect(labels, text).not.toHaveProperty([name!])
    labels[name!] = value!
    at += all!.length
    if (at < text.length) expect(text[at++], text).toBe(',')
  }
  return labels
}

/** Whether the buckets of each histogram grow to what `_count` says. */
function checkHistogram({ name, samples }: Family): void {
  const series = new Map<string, { last: number; bound: number }>()
  for (const [text, value] of samples) {
    const [, of, labels = ''] = sample.exec(`${text} 0`)!
    const { le, ...rest } = labelsOf(labels)
    const id = JSON.stringify(rest)
    if (of === `${name}_bucket`) {
      const { last, bound } = series.get(id) ?? { last: 0, bound: -Infinity }
      const upper = le === '+Inf' ? Infinity : Number(le)
      expect([upper > bound, value >= last], text).toEqual([true, true])
      series.set(id, { last: value, bound: upper })
    } else if (of === `${name}_count`) expect(series.get(id), text).toEqual({ last: value, bound: Infinity })
    else expect(of).toBe(`${name}_sum`)
  }
}

/** Reads Prometheus' text format 0.0.4, and fails on what a scraper would not take. */
export function parsePrometheus(text: string): Map<string, Family> {
  expect(text.endsWith('\n')).toBe(true)
  const families = new Map<string, Family>()
  let family: Family | undefined
  let help: string | undefined
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, word, name, rest] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? []
    if (word === 'HELP') {
      help = name
      continue
    }
    if (word === 'TYPE') {
      expect(name, line).toBe(help)
      expect(families.has(name!), line).toBe(false)
      expect(['counter', 'gauge', 'histogram', 'summary', 'untyped']).toContain(rest)
      families.set(name!, (family = { name: name!, type: rest!, samples: new Map() }))
      continue
    }
    const [, of, labels = '', value] = sample.exec(line) ?? []
    expect(of, line).toBeDefined()
    const endings = family!.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    expect(endings.map((ending) => family!.name + ending)).toContain(of)
    labelsOf(labels)
    const series = line.slice(0, line.lastIndexOf(' '))
    expect(family!.samples.has(series), line).toBe(false)
    const number = value === '+Inf' ? Infinity : Number(value)
    expect(Number.isNaN(number) && value !== 'Nan', line).toBe(false)
    if (family!.type === 'counter') {
      expect(family!.name).toMatch(/_total$/)
      expect(number, line).toBeGreaterThanOrEqual(0)
    }
    family!.samples.set(series, number)
  }
  for (const one of families.values()) if (one.type === 'histogram') checkHistogram(one)
  return families
}
