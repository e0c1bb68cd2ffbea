import { expect } from 'chai'
import fc from 'fast-check'
import type { Hex } from '../../../core/action.js'
import { SCRIPTED_GAS, type Lies } from './scripted-chain.js'
import { openScriptedSender, SENDER_ADDRESS, type ScriptedSender } from './scripted-sender.js'
import { runs } from '../../support/property-runs.js'

/** One thing that happens to a sender and its chain. */
type SenderHappening =
  | { readonly kind: 'take'; readonly intents: number }
  | { readonly kind: 'mine'; readonly limit: number; readonly reverting: number }
  | { readonly kind: 'empty' }
  | { readonly kind: 'reorg'; readonly depth: number; readonly keepPool: boolean }
  | { readonly kind: 'drop pool' }
  | { readonly kind: 'foreign' }
  | { readonly kind: 'restart' }
  | { readonly kind: 'lie'; readonly lies: Partial<Lies> }
  | { readonly kind: 'fees'; readonly base: number }
  | { readonly kind: 'look'; readonly afterMs: number }

const look = fc.record({ kind: fc.constant('look' as const), afterMs: fc.nat(4_000) })

const happening: fc.Arbitrary<SenderHappening> = fc.oneof(
  { weight: 6, arbitrary: look },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      intents: fc.integer({ min: 1, max: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('mine' as const),
      limit: fc.integer({ min: 1, max: 4 }),
      reverting: fc.nat(3),
    }),
  },
  { weight: 3, arbitrary: fc.constant({ kind: 'empty' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reorg' as const),
      depth: fc.integer({ min: 1, max: 11 }),
      keepPool: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: 'drop pool' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('lie' as const),
      lies: fc.constantFrom<Partial<Lies>>(
        {},
        ...[{ silent: true }, { late: 1 }, { late: 3 }, { forgetful: true }, { stale: true }],
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('fees' as const),
      base: fc.integer({ min: 100, max: 20_000 }),
    }),
  },
)

/** Histories in which everything goes wrong except the key, which is the sender's alone. */
const arbitrarySchedule = fc.array(happening, { minLength: 10, maxLength: 90, size: 'max' })

/** The same with foreign transactions on the key. */
const arbitraryRobbery = fc.array(
  fc.oneof(
    { weight: 20, arbitrary: happening },
    { weight: 1, arbitrary: fc.constant({ kind: 'foreign' as const }) },
  ),
  { minLength: 10, maxLength: 90, size: 'max' },
)

interface Run {
  readonly txSender: ScriptedSender
  readonly intentIds: string[]
  /** Nonces under which bytes of an intent were sent while no other was given up for it. */
  readonly noncesOf: Map<string, Set<number>>
  /** Since the last reorganisation; a lost branch that is not extended is left by its nodes before long. */
  blocksSinceReorg: number
}

const RUNS = 300
const READS_ON_A_LOST_BRANCH = 4

function openRun(): Run {
  const txSender = openScriptedSender()
  const run: Run = { txSender, intentIds: [], noncesOf: new Map(), blocksSinceReorg: 0 }
  txSender.onSend = ({ evmNonce, intentIds, attempts }) => {
    const hash = attempts.at(-1)?.hash ?? '0x'
    expect(txSender.journal.holds(hash), 'bytes were sent that the journal does not hold').to.equal(
      true,
    )
    for (const intentId of intentIds) {
      const nonces = run.noncesOf.get(intentId) ?? new Set()
      run.noncesOf.set(intentId, nonces.add(evmNonce))
    }
  }
  return run
}

async function happen(run: Run, { txSender }: Run, what: SenderHappening): Promise<void> {
  switch (what.kind) {
    case 'take':
      if (txSender.tracker.frozen() === undefined) take(run, what.intents)
      return
    case 'mine':
      run.blocksSinceReorg += 1
      txSender.mine(({ evmNonce }) => evmNonce % 4 === what.reverting, what.limit)
      return
    case 'empty':
      run.blocksSinceReorg += 1
      txSender.mineEmpty()
      return
    case 'reorg':
      run.blocksSinceReorg = 0
      txSender.reorg(what.depth, what.keepPool)
      return
    case 'drop pool':
      txSender.dropPool()
      return
    case 'foreign':
      txSender.mineForeign()
      return
    case 'restart':
      txSender.restart()
      return
    case 'lie':
      txSender.lies = lying(run, what.lies)
      return
    case 'fees':
      txSender.gas = { ...SCRIPTED_GAS, baseFeePerGas: BigInt(what.base) }
      txSender.gas = { ...txSender.gas, maxFeePerGas: 4n * txSender.gas.baseFeePerGas + 10n }
      return
    case 'look':
      await txSender.look(1, what.afterMs)
  }
}

/** A few lies of the kind, then the truth: the sender only has to see through a node that recovers. */
function lying(run: Run, lies: ReturnType<ScriptedSender['lies']>) {
  let left = READS_ON_A_LOST_BRANCH
  return () => {
    left -= 1
    return left > 0 && (lies.stale !== true || run.blocksSinceReorg < 6) ? lies : {}
  }
}

function take({ txSender, intentIds }: Run, count: number): void {
  const free = intentIds.filter((id) => txSender.journal.find(id)?.state.kind === 'displaced')
  const fresh = Array.from({ length: count }, (_, n) => `i${intentIds.length + n}`)
  const chosen = [...free, ...fresh].slice(0, count)
  intentIds.push(...chosen.filter((id) => !free.includes(id)))
  txSender.take(...chosen)
}

/** The chain goes on without any more trouble until everything is final. */
async function calmDown({ txSender }: Run): Promise<void> {
  txSender.lies = () => ({})
  for (let n = 0; n < 200; n += 1) {
    if (n > 20 && txSender.tracker.followedCount() === 0) return
    txSender.mine()
    await txSender.look(1, 5_000)
  }
}

function expectTruth({ txSender, intentIds, noncesOf }: Run): void {
  const canonical = new Map(txSender.canonical().map((it) => [it.hash, it]))
  const succeeded = new Map<string, number>()
  for (const intentId of intentIds) {
    const state = txSender.journal.find(intentId)?.state
    if (state?.kind === 'displaced') continue
    expect(state?.kind, `${intentId} is not settled`).to.equal('mined')
    if (state?.kind !== 'mined') continue
    const { hash, status } = state.transaction
    expect(canonical.get(hash)?.status, `${intentId} is not what the chain says`).to.equal(status)
    expectToldOrReversed(txSender, intentId, status)
  }
  for (const [intentId, nonces] of noncesOf) {
    for (const { evmNonce, hash } of canonical.values()) {
      if (!nonces.has(evmNonce) || !wasSent(txSender, hash)) continue
      succeeded.set(intentId, (succeeded.get(intentId) ?? 0) + 1)
    }
  }
  for (const [intentId, times] of succeeded) {
    expect(times, `${intentId} is on the chain ${times} times`).to.equal(1)
  }
}

const wasSent = (txSender: ScriptedSender, hash: Hex) =>
  txSender.sent.some((it) => it.hash === hash)

/** What was told first, with every reversal of it, comes to what is true. */
function expectToldOrReversed(txSender: ScriptedSender, intentId: string, truth: string): void {
  const told = txSender.mined
    .filter((it) => it.intentId === intentId)
    .map(({ result }) => result.status)
  const reversals = txSender.journal
    .reversalsAfter(0, 1_000)
    .filter((it) => it.intentId === intentId)
  let believed: string | undefined = told[0]
  for (const { before, now } of reversals) {
    expect(before.status, `${intentId} was never told so`).to.equal(believed)
    // Free again: what is told next counts anew.
    believed = now.status === 'displaced' ? told.at(-1) : now.status
  }
  expect(believed, `${intentId} was told and never taken back`).to.equal(truth)
}

describe('a sender in a history where anything may go wrong', () => {
  it('sends nothing that is not recorded, gives no intent two nonces, and tells the truth or takes it back (OPE-033)', async () => {
    const property = fc.asyncProperty(arbitrarySchedule, async (schedule) => {
      const run = openRun()
      for (const what of schedule) await happen(run, run, what)
      await calmDown(run)
      expectTruth(run)
      for (const [intentId, nonces] of run.noncesOf) {
        expect(nonces.size, `${intentId} had several nonces`).to.equal(1)
      }
      expect(run.txSender.tracker.frozen()).to.equal(undefined)
      expect(run.txSender.journal.unsettledTransactions(SENDER_ADDRESS)).to.deep.equal([])
      run.txSender.journal.close()
    })
    await fc.assert(property, { numRuns: runs(RUNS) })
  })

  it('has each intent on the chain once at most when foreign transactions use the key as well', async () => {
    const property = fc.asyncProperty(arbitraryRobbery, async (schedule) => {
      const run = openRun()
      for (const what of schedule) await happen(run, run, what)
      await calmDown(run)
      expectTruth(run)
      run.txSender.journal.close()
    })
    await fc.assert(property, { numRuns: runs(RUNS) })
  })
})
