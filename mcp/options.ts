import { parseArgs } from 'node:util'
import { parseDecimal } from '../core/decimal.js'

/** What an operator of the server states on its command line. */
export interface Options {
  /** Where the venue is, for example `http://127.0.0.1:8080`. */
  readonly venueUrl: string
  /** Opens what its owner alone may read, and signs orders. */
  readonly keyFile?: string
  /** The owner in whose place the key signs; absent: the key's own address. */
  readonly owner?: string
  /** Absent: no tool places or cancels. */
  readonly bounds?: OrderBounds
}

/** The worth of orders that tools may place, at their worst prices, in 1e-18 USDC. */
export interface OrderBounds {
  /** Of one order. */
  readonly largestE18: bigint
  /** Of all orders that this process sends, also of those that end without a fill. */
  readonly totalE18: bigint
}

/** The command line is not one that this program has. */
export class BadUsage extends Error {
  override readonly name = 'BadUsage'
}

export const USAGE = `venue-mcp --venue URL [--key-file FILE [--owner ADDRESS] [--trade --max-notional USDC [--max-total USDC]]]

  --venue URL           the venue, for example http://127.0.0.1:8080
  --key-file FILE       private key, 0x and 64 hex digits, in a file that its user alone may read: opens private reads
  --owner ADDRESS       the owner whose session key this is; by default the key is the owner's
  --trade               also offers tools that place and cancel orders
  --max-notional USDC   the largest worth of one order; needed with --trade
  --max-total USDC      the largest worth of all orders of this process; by default ten times --max-notional
`

const FLAGS = {
  venue: { type: 'string' },
  'key-file': { type: 'string' },
  owner: { type: 'string' },
  trade: { type: 'boolean' },
  'max-notional': { type: 'string' },
  'max-total': { type: 'string' },
} as const

/** Reads the command line. Throws BadUsage, also where a flag would do nothing. */
export function readOptions(args: readonly string[]): Options {
  const flags = parse(args)
  const { venue: venueUrl, 'key-file': keyFile, owner } = flags
  if (venueUrl === undefined || !URL.canParse(venueUrl) || !/^https?:/i.test(venueUrl))
    throw new BadUsage('--venue needs the http or https address of the venue')
  if (owner !== undefined && !/^0x[0-9a-fA-F]{40}$/.test(owner))
    throw new BadUsage('--owner needs an address: 0x and 40 hex digits')
  if (keyFile === undefined && (owner !== undefined || flags.trade === true))
    throw new BadUsage('--owner and --trade need --key-file')
  const bounds = readBounds(flags)
  return {
    venueUrl,
    ...(keyFile !== undefined && { keyFile }),
    ...(owner !== undefined && { owner }),
    ...(bounds !== undefined && { bounds }),
  }
}

type Flags = ReturnType<typeof parse>

function parse(args: readonly string[]) {
  try {
    return parseArgs({ args: [...args], options: FLAGS, strict: true }).values
  } catch (cause) {
    throw new BadUsage(cause instanceof Error ? cause.message : 'unknown flag', { cause })
  }
}

const TOTAL_PER_ORDER = 10n

function readBounds(flags: Flags): OrderBounds | undefined {
  const { trade = false, 'max-notional': largest, 'max-total': total } = flags
  if (!trade) {
    if (largest !== undefined || total !== undefined)
      throw new BadUsage('--max-notional and --max-total need --trade')
    return undefined
  }
  if (largest === undefined) throw new BadUsage('--trade needs --max-notional')
  const largestE18 = readUsdc('--max-notional', largest)
  const totalE18 =
    total === undefined ? largestE18 * TOTAL_PER_ORDER : readUsdc('--max-total', total)
  return { largestE18, totalE18 }
}

function readUsdc(flag: string, text: string): bigint {
  const value = parseDecimal(text, 18)
  if (value === undefined || value === 0n) throw new BadUsage(`${flag} needs an amount of USDC`)
  return value
}
