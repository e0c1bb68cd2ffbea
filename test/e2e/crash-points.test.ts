import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { join } from 'node:path'
import { parseEventLogs } from 'viem'
import { askLeader, commandsStream } from '../../bus-schemas/subjects.js'
import { tradeModuleAbi } from '../../chain/abi/contracts.js'
import type { OrderBody } from '../../client/index.js'
import type { Address, Hex } from '../../core/action.js'
import type { CrashPoint } from '../../core/crash-point.js'
import type { Change } from '../../core/engine/change.js'
import { eventually } from '../support/eventually.js'
import { openPocketVenue, type PocketProcess, type PocketVenue } from '../support/pocket-venue.js'
import { decodeCommands } from '../support/spot-log.js'

const AMOUNT = '1000'
const AMOUNT_E18 = 1_000n * 10n ** 18n
const STREAM = commandsStream('cNGN-USDC')
const SETTLES_WITHIN_MS = 40_000
/** Blocks of a branch that has outgrown the lost one. */
const BRANCH = 3

interface Row {
  readonly point: CrashPoint
  /** A point to crash at first, so that there is something to recover from. */
  readonly after?: CrashPoint
  /** At which passing, when it is not the first. */
  readonly passing?: (venue: PocketVenue) => Promise<number>
  /** What else it takes, once the orders are on their way. */
  readonly provoke?: (venue: PocketVenue, settled: Promise<void>) => Promise<void>
}

/** Every message of the log is read, those of a start as well: the second after the log's end is one of an order. */
async function afterTheLog({ bus }: PocketVenue): Promise<number> {
  return (await bus.streamState(STREAM)).lastSeq + 2
}

const ROWS: readonly Row[] = [
  { point: 'intake.before_checks' },
  { point: 'intake.after_signature' },
  { point: 'intake.before_commit' },
  { point: 'intake.in_commit' },
  { point: 'intake.after_commit_before_publish' },
  { point: 'intake.after_publish_before_ack' },
  { point: 'intake.after_ack_before_mark' },
  { point: 'intake.after_mark' },
  { point: 'intake.outbox_replay_mid', after: 'intake.after_commit_before_publish' },
  {
    point: 'intake.shutdown_mid_drain',
    provoke: (venue) => Promise.resolve(venue.signal('intake', 'SIGTERM')),
  },
  { point: 'matcher.after_read', passing: afterTheLog },
  { point: 'matcher.after_apply_before_publish' },
  // The first that it publishes is the block by which it takes the market.
  { point: 'matcher.after_publish_before_ack', passing: () => Promise.resolve(2) },
  { point: 'matcher.after_ack_before_answer' },
  { point: 'matcher.after_answer_before_settle' },
  { point: 'matcher.after_result_before_report' },
  { point: 'matcher.after_report_before_ack' },
  { point: 'matcher.replay_mid', after: 'matcher.after_ack_before_answer' },
  { point: 'matcher.fence_detected', provoke: pauseUntilReplaced },
  { point: 'executor.after_request' },
  { point: 'executor.before_journal' },
  { point: 'lane.after_sign_before_commit' },
  { point: 'lane.in_commit' },
  { point: 'lane.after_commit_before_broadcast' },
  { point: 'lane.during_broadcast' },
  { point: 'lane.after_broadcast_before_mark' },
  { point: 'lane.after_receipt_before_mark' },
  { point: 'lane.after_mark_before_answer' },
  { point: 'lane.during_reorg_rollback', provoke: forgetTheTrade },
  { point: 'lane.recovery_mid', after: 'lane.after_commit_before_broadcast' },
]

/** Lets a second matcher take the market while the first is paused. */
async function pauseUntilReplaced(venue: PocketVenue): Promise<void> {
  venue.signal('matcher', 'SIGSTOP')
  await venue.start('twin')
  await eventually(() => venue.bus.ask(askLeader('cNGN-USDC'), new Uint8Array(), 500))
  venue.signal('matcher', 'SIGCONT')
}

/** Takes the chain to before the trade, once that is settled, and lets it grow differently from there. */
async function forgetTheTrade({ world }: PocketVenue, settled: Promise<void>): Promise<void> {
  const snapshot = await world.client.snapshot()
  await settled
  await world.client.revert({ id: snapshot })
  await world.client.mine({ blocks: BRANCH })
}

/** The executor sends what it sends through a lane. */
const processOf = (point: CrashPoint): PocketProcess => {
  const [part = ''] = point.split('.')
  return part === 'lane' ? 'executor' : (part as PocketProcess)
}

describe('a crash at each labelled point', function () {
  this.timeout(120_000)
  let venue: PocketVenue

  before(async () => {
    venue = await openPocketVenue()
    await Promise.all((['intake', 'matcher', 'executor'] as const).map((it) => venue.start(it)))
  })
  after(() => venue?.stop())

  for (const row of ROWS) {
    it(`${row.point} loses and doubles nothing`, async () => {
      const process = processOf(row.point)
      const { world } = venue
      const [maker, taker] = await Promise.all([
        venue.order(world.bob, 'sell', AMOUNT),
        venue.order(world.alice, 'buy', AMOUNT),
      ])
      const sentBefore = await world.client.getTransactionCount({ address: world.executor })

      venue.signal(process, 'SIGKILL')
      await venue.ended(process)
      await venue.start(process, await armed(row, venue))
      const answered = placeInTurn(venue, [maker, taker])
      const settled = answered.then(() => untilSettled(venue, taker))
      await Promise.all([crashes(row, venue), row.provoke?.(venue, settled)])
      venue.signal('twin', 'SIGKILL')
      await venue.start(process)

      for (const answer of await answered) expect([200, 409]).to.include(answer)
      await settled
      await expectOnce(venue, [maker, taker], sentBefore)
    })
  }
})

async function armed({ point, after, passing }: Row, venue: PocketVenue): Promise<string> {
  if (after !== undefined) return after
  return passing === undefined ? point : `${point}:${await passing(venue)}`
}

/** Resolves when the process died where the row wants it. */
async function crashes({ point, after }: Row, venue: PocketVenue): Promise<void> {
  const process = processOf(point)
  expect(await venue.ended(process)).to.equal('SIGKILL')
  if (after === undefined) return
  await venue.start(process, point)
  expect(await venue.ended(process)).to.equal('SIGKILL')
}

async function placeInTurn(venue: PocketVenue, bodies: readonly OrderBody[]): Promise<number[]> {
  const statuses: number[] = []
  for (const body of bodies) {
    const answer = await venue.place(body)
    statuses.push(answer.kind === 'order' ? 200 : answer.refusal.status)
  }
  return statuses
}

async function untilSettled(venue: PocketVenue, { order_id }: OrderBody): Promise<void> {
  await eventually(
    async () => (await venue.changesOf([order_id])).some(({ kind }) => kind === 'OrderFilled'),
    SETTLES_WITHIN_MS,
  )
}

/** Each order is placed once, their one match is settled by one transaction, and the journal knows no other bytes. */
async function expectOnce(
  venue: PocketVenue,
  [maker, taker]: [OrderBody, OrderBody],
  sentBefore: number,
): Promise<void> {
  const ids = [maker.order_id, taker.order_id]
  expect((await commandsOf(venue, ids)).sort()).to.deep.equal([...ids].sort())
  const changes = await venue.changesOf(ids)
  const ofMaker = changes.filter(({ orderId }) => orderId === maker.order_id)
  expect(ofMaker.map(({ kind }) => kind)).to.deep.equal([
    'OrderPlaced',
    'OrderMatched',
    'OrderFilled',
  ])
  const ofTaker = changes.filter(({ orderId }) => orderId === taker.order_id)
  expect(ofTaker.map(({ kind }) => kind)).to.deep.equal(['OrderPlaced', 'OrderFilled'])

  const { settlementId, txHash } = fillOf(ofTaker)
  const attempts = readAttempts(venue, settlementId)
  expect(attempts).to.deep.equal([txHash])
  const { world } = venue
  // Of what the chain forgot, the same bytes are sent again.
  await eventually(async () => (await isSettled(venue, txHash)) === true)
  const sent = await world.client.getTransactionCount({ address: world.executor })
  expect(sent - sentBefore, 'transactions').to.equal(1)
  for (const { owner_address, nonce } of [maker, taker]) {
    const filled = await world.client.readContract({
      address: world.at.spot_trade_module,
      abi: tradeModuleAbi,
      functionName: 'filled',
      args: [owner_address as Address, BigInt(nonce)],
    })
    expect(filled).to.equal(AMOUNT_E18)
  }
}

function fillOf(changes: readonly Change[]) {
  const filled = changes.find((change) => change.kind === 'OrderFilled')
  if (filled?.kind !== 'OrderFilled') throw new Error('no fill')
  return filled.fill
}

/** Ids of the placements in the log, one for each number that a writer gave: a repeat is the writer's right. */
async function commandsOf({ bus }: PocketVenue, ids: readonly string[]): Promise<string[]> {
  const placed = new Map<string, string>()
  for (let next = 1; ;) {
    const messages = await bus.read(STREAM, next, 512)
    if (messages.length === 0) return [...placed.values()]
    for (const { source, sourceNo, command } of messages.flatMap(({ data }) =>
      decodeCommands(data),
    )) {
      if (command.kind !== 'PlaceOrder' || !ids.includes(command.order.orderId)) continue
      placed.set(`${source}:${sourceNo}`, command.order.orderId)
    }
    next += messages.length
  }
}

function readAttempts({ dataDir }: PocketVenue, settlementId: string): string[] {
  const db = new Sqlite(join(dataDir, 'executor.db'), { readonly: true })
  try {
    return db
      .prepare<[string], Buffer>(
        `SELECT hash FROM attempts JOIN transaction_intents USING (sender, evm_nonce) WHERE intent_id = ?`,
      )
      .pluck()
      .all(settlementId)
      .map((hash) => `0x${hash.toString('hex')}`)
  } finally {
    db.close()
  }
}

async function isSettled({ world }: PocketVenue, hash: Hex): Promise<boolean> {
  const receipt = await world.client.getTransactionReceipt({ hash }).catch(() => undefined)
  if (receipt === undefined) return false
  const logs = parseEventLogs({
    abi: tradeModuleAbi,
    logs: receipt.logs,
    eventName: 'OrderMatched',
  })
  return receipt.status === 'success' && logs.length === 1
}
