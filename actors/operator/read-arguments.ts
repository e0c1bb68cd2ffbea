import type { MarketChange } from '../../bus-schemas/markets.js'

/** What is asked for on the command line. */
export type MarketOrder =
  | { readonly kind: 'list' }
  | { readonly kind: 'add'; readonly file: string }
  | {
      readonly kind: 'change'
      readonly market: string
      readonly change: Exclude<MarketChange, { kind: 'show' }>
      readonly reason: string
    }

/** The command line cannot be read; the message is one line. */
export class BadUsage extends Error {
  override readonly name = 'BadUsage'
}

export const USAGE = `usage: ./venue market list
       ./venue market add <file.json>
       ./venue market set <market> <rule>=<value>... [--reason <text>]
       ./venue market pause|resume|disable|enable <market> [--reason <text>]

rules: taker_fee_bps, tick_size, min_size, amount_step`

const CHANGES = ['pause', 'resume', 'disable', 'enable'] as const

/** The reason in the log when none is given. */
const NO_REASON = 'unspecified'

/** Throws BadUsage. */
export function readArguments(given: readonly string[]): MarketOrder {
  const { words, reason } = splitReason(given)
  const [verb = '', ...rest] = words
  const [first, ...more] = rest
  if (verb === 'list' && first === undefined) return { kind: 'list' }
  if (verb === 'add' && first !== undefined && more.length === 0)
    return { kind: 'add', file: first }
  if (verb === 'set' && first !== undefined && more.length > 0) {
    const change = { kind: 'set', fields: readFields(more) } as const
    return { kind: 'change', market: first, change, reason }
  }
  const kind = CHANGES.find((each) => each === verb)
  if (kind !== undefined && first !== undefined && more.length === 0) {
    return { kind: 'change', market: first, change: { kind }, reason }
  }
  throw new BadUsage(`cannot read: market ${given.join(' ')}`)
}

function splitReason(given: readonly string[]) {
  const at = given.indexOf('--reason')
  if (at < 0) return { words: given, reason: NO_REASON }
  const reason = given[at + 1]
  if (reason === undefined) throw new BadUsage('--reason needs a text')
  return { words: given.toSpliced(at, 2), reason }
}

function readFields(words: readonly string[]): Record<string, string> {
  const fields = words.map((word): [string, string] => {
    const at = word.indexOf('=')
    if (at <= 0) throw new BadUsage(`${word} is not <rule>=<value>`)
    return [word.slice(0, at), word.slice(at + 1)]
  })
  const names = fields.map(([name]) => name)
  const repeated = names.find((name, index) => names.indexOf(name) !== index)
  if (repeated !== undefined) throw new BadUsage(`${repeated} is given twice`)
  return Object.fromEntries(fields)
}
