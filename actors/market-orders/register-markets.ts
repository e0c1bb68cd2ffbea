import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import {
  decodeRegisterAnswer,
  encodeRegisterRequest,
  registerText,
  whyTooMany,
  type RegisterAnswer,
} from '../../bus-schemas/register.js'
import { askRegister } from '../../bus-schemas/subjects.js'
import { crash } from '../../core/crash-point.js'
import {
  entryOf,
  ordinalsByName,
  type RegisterEntry,
} from '../../core/contracts/market-register.js'
import { describeAbsent, readMarkets } from '../../data/markets.js'
import { NoAnswer, type Bus } from '../../runtime/bus/bus.js'
import { readRegister } from '../../runtime/bus/market-register.js'
import type { OperatorKey } from '../../runtime/bus/operator-key.js'
import { OperatorOrderRefused } from './order-refused.js'

/** How an operator, or the keeper, has markets registered. */

export interface RegisterDeps {
  readonly bus: Pick<Bus, 'ask' | 'read' | 'streamState'>
  readonly deploymentFile: string
  readonly user: string
  /** Unix milliseconds. */
  readonly nowMs: () => number
  /** Without it the order intake refuses. */
  readonly operatorKey?: OperatorKey | undefined
}

const ANSWER_WITHIN_MS = 15_000
const NONCE_BYTES = 16
/** Of two operators at once the later one reads the register again. */
const ATTEMPTS = 20
const ATTEMPT_PAUSE_MS = 250

/**
 * Has the markets of these rows registered, all or none, and resolves with their names. A row without an ordinal gets the next one.
 * A row of a registered market replaces its texts. Throws OperatorOrderRefused, and MarketFileError when the deployment cannot be read.
 */
export async function registerRows(
  deps: RegisterDeps,
  rows: readonly unknown[],
  reason: string,
): Promise<readonly string[]> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const { entries: known, seq } = await readRegister(deps.bus)
    const entries = entriesOf(deps, rows, ordinalsByName(known))
    const answer = await ask(deps, { entries, reason, after_seq: seq })
    if (answer.kind === 'refused') throw new OperatorOrderRefused(answer.message)
    if (answer.kind === 'registered') return entries.map(({ opening }) => opening.identity.market)
    await delay(ATTEMPT_PAUSE_MS)
  }
  throw new OperatorOrderRefused('other markets are being registered all the time: try again')
}

function entriesOf(
  { deploymentFile }: RegisterDeps,
  rows: readonly unknown[],
  ordinals: ReadonlyMap<string, number>,
): readonly RegisterEntry[] {
  const { markets, refused, absent } = readMarkets(
    { DEPLOYMENT_FILE: deploymentFile },
    rows,
    ordinals,
  )
  for (const { row, problem } of refused) throw new OperatorOrderRefused(`${row}: ${problem}`)
  for (const row of absent) throw new OperatorOrderRefused(describeAbsent(row))
  if (markets.length === 0) throw new OperatorOrderRefused('there is no row of a market')
  const why = whyTooMany(markets)
  if (why !== undefined) throw new OperatorOrderRefused(why)
  return markets.map(entryOf)
}

interface RegistrationRequest {
  readonly entries: readonly RegisterEntry[]
  readonly reason: string
  readonly after_seq: number
}

async function ask(
  { bus, user: by, operatorKey, nowMs }: RegisterDeps,
  asking: RegistrationRequest,
): Promise<RegisterAnswer> {
  const request = { by, ...asking }
  const issued = { issuedAtMs: nowMs(), nonce: randomBytes(NONCE_BYTES).toString('hex') }
  const proof = operatorKey?.prove((unsigned) => registerText(request, unsigned), issued)
  const data = encodeRegisterRequest({ ...request, ...(proof && { proof }) })
  try {
    const answer = bus.ask(askRegister, data, ANSWER_WITHIN_MS)
    crash('market_order.registration_in_flight')
    return decodeRegisterAnswer(await answer)
  } catch (cause) {
    if (!(cause instanceof NoAnswer)) throw cause
    throw new OperatorOrderRefused('the order intake does not answer: is the venue running?', {
      cause,
    })
  }
}
