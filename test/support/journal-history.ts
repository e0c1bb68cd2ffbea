import fc from 'fast-check'
import type { Hex } from '../../core/action.js'
import type {
  ClaimJournal,
  IntentOutcome,
  TransactionJournal,
} from '../../core/transaction-journal.js'
import { hashOf, SENDER } from './journal-entries.js'
import { anUnsentTransfer } from './transfer-bodies.js'

/** Histories of a journal as its process may record them. */

/** One step; what it does depends on what was recorded before. `pick` chooses of what, `more` how. */
export interface HistoryStep {
  readonly what: number
  readonly pick: number
  readonly more: number
}

export const anyStep: fc.Arbitrary<HistoryStep> = fc.record({
  what: fc.nat({ max: 11 }),
  pick: fc.nat(),
  more: fc.nat({ max: 5 }),
})

/** The journals that all steps are recorded in. */
interface Recorded {
  readonly journal: TransactionJournal
  readonly claims: ClaimJournal
}

interface Sent {
  readonly evmNonce: number
  readonly intentIds: readonly string[]
  state: 'open' | 'mined' | 'final' | 'displaced'
}

const FINGERPRINT = hashOf(0xf1)
const OUTCOMES: readonly IntentOutcome[] = [
  { status: 'success' },
  { status: 'reverted', revert: 'TM_FeeTooHigh' },
]

/** Records steps in each journal alike. */
export function createHistory(journals: readonly Recorded[]) {
  const sent: Sent[] = []
  const free: string[] = []
  const claimed = new Map<Hex, 'claimed' | 'sent' | 'declined'>()
  let [nextNonce, nextId, nextHash] = [0, 1, 1_000]
  const each = (record: (of: Recorded) => unknown): void => journals.forEach((of) => record(of))
  const newHash = (): Hex => hashOf((nextHash += 1))
  const oneOf = <T>(list: readonly T[], pick: number): T | undefined => list[pick % list.length]
  const inState = (...states: Sent['state'][]) => sent.filter(({ state }) => states.includes(state))
  const claimsIn = (state: string) =>
    [...claimed].filter(([, is]) => is === state).map(([hash]) => hash)
  const attempt = () => ({
    hash: newHash(),
    raw: newHash(),
    gasLimit: 21_000n,
    maxFeePerGas: BigInt(nextHash),
  })
  const inclusion = () => ({
    hash: newHash(),
    blockNumber: BigInt(nextHash),
    blockHash: newHash(),
  })

  function sign(intentIds: readonly string[]): void {
    const evmNonce = nextNonce++
    const transaction = { from: SENDER, evmNonce, intentIds, attempts: [attempt()] }
    const fingerprints = intentIds.map(() => FINGERPRINT)
    each(({ journal }) => journal.recordSigned(transaction, fingerprints))
    sent.push({ evmNonce, intentIds, state: 'open' })
  }
  function intents(pick: number, count: number): string[] {
    const again = free.length > 0 && pick % 2 === 0 ? free.splice(0, 1) : []
    return [...again, ...Array.from({ length: count }, () => `m:${nextId++}`)]
  }
  function mine(of: Sent | undefined, more: number): void {
    if (of === undefined) return
    const outcomes = of.intentIds.map((_, at) => OUTCOMES[(more >> at) % 2] ?? OUTCOMES[0]!)
    const result = { ...inclusion(), outcomes }
    each(({ journal }) => journal.recordMined(SENDER, of.evmNonce, result))
    of.state = 'mined'
  }
  function displace(of: Sent | undefined): void {
    if (of === undefined) return
    const by = inclusion()
    each(({ journal }) => journal.recordDisplaced(SENDER, of.evmNonce, by))
    of.state = 'displaced'
    free.push(...of.intentIds.filter((id) => id.startsWith('m:')))
  }
  function claim(again: Hex | undefined): void {
    const actionHash = again ?? newHash()
    const record = anUnsentTransfer({ actionHash })
    each(({ claims }) => claims.recordClaim(record, `request of ${actionHash}`))
    claimed.set(actionHash, 'claimed')
  }

  return (step: HistoryStep): void => {
    const { what, pick, more } = step
    const open = oneOf(inState('open'), pick)
    const mined = oneOf(inState('mined'), pick)
    const pending = oneOf(claimsIn('claimed'), pick)
    if (what <= 1) sign(intents(pick, more % 4))
    if (what === 2 && open !== undefined) {
      const bid = attempt()
      each(({ journal }) => journal.recordAttempt(SENDER, open.evmNonce, bid))
    }
    if (what === 3 || what === 4) mine(open, more)
    if (what === 5) mine(oneOf(inState('open', 'mined'), pick), more)
    if (what === 6 && mined !== undefined) {
      each(({ journal }) => journal.recordFinal(SENDER, [mined.evmNonce]))
      mined.state = 'final'
    }
    if (what === 7 && mined !== undefined) {
      each(({ journal }) => journal.reopen(SENDER, [mined.evmNonce]))
      mined.state = 'open'
    }
    if (what === 8) displace(open)
    if (what === 9) claim(more === 0 ? oneOf(claimsIn('declined'), pick) : undefined)
    if (what === 10 && pending !== undefined) {
      if (more > 1) sign([`deposit:${pending}`])
      else each(({ claims }) => claims.recordDecline(pending, { error: 'no', revert: 'r' }))
      claimed.set(pending, more > 1 ? 'sent' : 'declined')
    }
    if (what === 11) {
      if (more === 0) {
        const by = inclusion()
        const evmNonce = nextNonce++
        each(({ journal }) => journal.recordForeign(SENDER, evmNonce, by))
      } else {
        const [id] = intents(1, 1)
        each(({ journal }) => journal.recordRefusal(id ?? '', FINGERPRINT, 'BM_Nonce'))
      }
    }
  }
}
