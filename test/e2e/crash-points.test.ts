import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { parseEventLogs } from 'viem'
import { commandMessages } from '../../bus-schemas/commands.js'
import { askLead, commandsStream, matcherOf } from '../../bus-schemas/subjects.js'
import { futureTradeModuleAbi, tradeModuleAbi } from '../../chain/abi/contracts.js'
import type { OrderBody } from '../../client/index.js'
import type { Address, Hex } from '../../core/action.js'
import type { CrashPoint } from '../../core/crash-point.js'
import type { Change } from '../../core/model/change.js'
import { eventually } from '../support/eventually.js'
import {
  AMOUNT,
  pocketMarkets,
  type PocketKind,
  type PocketMarket,
} from '../support/pocket-markets.js'
import { openPocketVenue, type PocketProcess, type PocketVenue } from '../support/pocket-venue.js'

const SPOT = 'cNGN-USDC'
const SETTLES_WITHIN_MS = 40_000
/** Often enough that a perpetual's prices are not of an old block. */
const BLOCK_EVERY_MS = 2_000

interface Row {
  readonly point: CrashPoint
  /** Of the market; spot where the kind does not matter, else in turn. */
  readonly kind?: PocketKind
  /** A point to crash at first, so that there is something to recover from. */
  readonly after?: CrashPoint
  /** At which passing, when it is not the first. */
  readonly passing?: (venue: PocketVenue) => Promise<number>
  /** The executor goes on beside an empty disk: its journal is in its stream alone. */
  readonly disk?: 'another'
  /** What else it takes, once the orders are on their way. */
  readonly provoke?: (venue: PocketVenue, settled: Promise<void>) => Promise<void>
}

/** Every message of the log is read, those of a start as well: the second after the log's end is one of an order. */
async function afterTheLog({ bus }: PocketVenue): Promise<number> {
  return (await bus.streamState(commandsStream(SPOT))).lastSeq + 2
}

const ROWS: readonly Row[] = [
  { point: 'lead.before_term', after: 'intake.after_ack_before_fold' },
  { point: 'lead.after_term', after: 'intake.after_ack_before_fold' },
  { point: 'intake.before_checks' },
  { point: 'intake.after_signature' },
  { point: 'intake.before_barrier', after: 'intake.after_ack_before_fold' },
  { point: 'intake.after_barrier', after: 'intake.after_ack_before_fold' },
  { point: 'intake.before_append' },
  // The first that it appends is the epoch marker of its term.
  { point: 'intake.after_publish_before_ack', passing: () => Promise.resolve(2) },
  { point: 'intake.after_ack_before_fold' },
  { point: 'intake.after_fold' },
  {
    point: 'intake.in_store',
    provoke: (venue) => Promise.resolve(venue.signal('intake', 'SIGTERM')),
  },
  {
    point: 'intake.shutdown_mid_drain',
    provoke: (venue) => Promise.resolve(venue.signal('intake', 'SIGTERM')),
  },
  { point: 'matcher.after_read', passing: afterTheLog },
  { point: 'matcher.after_apply_before_publish' },
  // The first that it publishes is the block by which it takes the market.
  { point: 'matcher.after_publish_before_ack', passing: () => Promise.resolve(2) },
  { point: 'matcher.after_ack_before_answer' },
  { point: 'matcher.after_answer_before_settle', kind: 'perpetual' },
  { point: 'matcher.after_result_before_report', kind: 'future' },
  { point: 'matcher.after_report_before_ack', kind: 'perpetual' },
  { point: 'matcher.replay_mid', after: 'matcher.after_ack_before_answer' },
  { point: 'matcher.fence_detected', provoke: pauseUntilReplaced },
  { point: 'executor.after_request', kind: 'future' },
  { point: 'executor.before_journal', kind: 'perpetual' },
  { point: 'sender.during_reorg_rollback', provoke: forgetTheTrade },
  ...onBothDisks(
    { point: 'sender.after_sign_before_record', kind: 'future' },
    { point: 'sender.after_record_before_append' },
    { point: 'journal.before_append', kind: 'perpetual' },
    { point: 'journal.after_append_before_ack' },
    { point: 'journal.after_ack_before_fold', kind: 'future' },
    { point: 'journal.in_fold', kind: 'perpetual' },
    { point: 'sender.after_append_before_broadcast', kind: 'future' },
    { point: 'sender.during_broadcast', kind: 'future' },
    { point: 'sender.after_broadcast_before_mark', kind: 'perpetual' },
    { point: 'sender.after_receipt_before_mark', kind: 'future' },
    { point: 'sender.after_mark_before_answer', kind: 'perpetual' },
    { point: 'sender.recovery_mid', kind: 'future', after: 'sender.after_append_before_broadcast' },
  ),
]

/** What the journal's table of crashes is about: a process goes on beside the file, or knows the stream alone. */
function onBothDisks(...rows: readonly Row[]): Row[] {
  return rows.flatMap((row) => [row, { ...row, disk: 'another' } as const])
}

/** Lets a second matcher take the market while the first is paused. */
async function pauseUntilReplaced(venue: PocketVenue): Promise<void> {
  venue.signal('matcher', 'SIGSTOP')
  await venue.start('twin')
  await eventually(() => venue.bus.ask(askLead(matcherOf(SPOT)), new Uint8Array(), 500))
  venue.signal('matcher', 'SIGCONT')
}

/** Takes the chain to before the trade, once that is settled, and lets it grow differently from there. */
async function forgetTheTrade({ world }: PocketVenue, settled: Promise<void>): Promise<void> {
  const snapshot = await world.client.snapshot()
  await settled
  const lost = await world.client.getBlockNumber({ cacheTime: 0 })
  await world.client.revert({ id: snapshot })
  const kept = await world.client.getBlockNumber({ cacheTime: 0 })
  // The new branch outgrows the lost one.
  await world.client.mine({ blocks: Number(lost - kept) + 1 })
}

/** The executor sends what it sends through a sender. */
function processOf(point: CrashPoint, { matcher }: PocketMarket): PocketProcess {
  const [part = ''] = point.split('.')
  if (part === 'matcher') return matcher
  // The one of the intake: all lead alike.
  if (part === 'lead') return 'intake'
  return part === 'sender' || part === 'journal' ? 'executor' : (part as PocketProcess)
}

/** Every process that an order passes on its way to the chain, and the one that looks at the markets there. */
const PROCESSES = [
  ...(['intake', 'executor', 'chainReader'] as const),
  ...(['matcher', 'perpMatcher', 'futureMatcher'] as const),
]

describe('a crash at each labelled point', function () {
  const markets = pocketMarkets()
  let venue: PocketVenue
  let blocks: NodeJS.Timeout

  before(async () => {
    venue = await openPocketVenue({}, markets.prepare)
    const { client } = venue.world
    // A block that is missed is followed by another.
    const mine = () => void client.mine({ blocks: 1 }).catch(() => undefined)
    blocks = setInterval(mine, BLOCK_EVERY_MS)
    await Promise.all(PROCESSES.map((it) => venue.start(it)))
  })
  after(async () => {
    clearInterval(blocks)
    await venue?.stop()
  })

  for (const row of ROWS) {
    const { point, kind = 'spot', disk } = row
    it(`${point} loses and doubles nothing on ${kind}${disk === undefined ? '' : ', beside an empty disk'} (OPE-017)`, async () => {
      const market = markets.of(kind)
      const process = processOf(point, market)
      const { world } = venue
      const [maker, taker] = await Promise.all([
        venue.order(market.seller, 'sell', AMOUNT, market),
        venue.order(market.buyer, 'buy', AMOUNT, market),
      ])
      const sentBefore = await world.client.getTransactionCount({ address: world.executor })

      venue.signal(process, 'SIGKILL')
      await venue.ended(process)
      await venue.start(process, await armed(row, venue))
      const answered = placeInTurn(venue, [maker, taker])
      const settled = answered.then(() => untilSettled(venue, market, taker))
      await Promise.all([crashes(row, venue, market), row.provoke?.(venue, settled)])
      venue.signal('twin', 'SIGKILL')
      if (disk !== undefined) loseJournalFile(venue)
      await venue.start(process)

      for (const answer of await answered) expect([200, 409]).to.include(answer)
      await settled
      await expectOnce({ venue, market, orders: [maker, taker], sentBefore })
    })
  }
})

function loseJournalFile({ dataDir }: PocketVenue): void {
  for (const end of ['', '-wal', '-shm'])
    rmSync(join(dataDir, `executor.db${end}`), { force: true })
}

async function armed({ point, after, passing }: Row, venue: PocketVenue): Promise<string> {
  if (after !== undefined) return after
  return passing === undefined ? point : `${point}:${await passing(venue)}`
}

/** Resolves when the process died where the row wants it. */
async function crashes(
  { point, after }: Row,
  venue: PocketVenue,
  market: PocketMarket,
): Promise<void> {
  const process = processOf(point, market)
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

async function untilSettled(
  venue: PocketVenue,
  { name }: PocketMarket,
  { order_id }: OrderBody,
): Promise<void> {
  await eventually(
    async () =>
      (await venue.changesOf([order_id], name)).some(({ kind }) => kind === 'OrderFilled'),
    SETTLES_WITHIN_MS,
  )
}

interface Settled {
  readonly venue: PocketVenue
  readonly market: PocketMarket
  /** Maker and taker. */
  readonly orders: readonly [OrderBody, OrderBody]
  readonly sentBefore: number
}

/** Each order is placed once, their one match is settled by one transaction, and the journal knows no other bytes. */
async function expectOnce({ venue, market, orders, sentBefore }: Settled): Promise<void> {
  const [maker, taker] = orders
  const ids = orders.map(({ order_id }) => order_id)
  expect((await commandsOf(venue, market, ids)).sort()).to.deep.equal([...ids].sort())
  const changes = await venue.changesOf(ids, market.name)
  const kindsOf = ({ order_id }: OrderBody) =>
    changes.filter(({ orderId }) => orderId === order_id).map(({ kind }) => kind)
  // On a slow machine the market may be held until the chain reader has looked again, or the executor takes matches again; the
  // taker is matched afterwards.
  const isOfHold = (kind: Change['kind']) => ['OrderHeld', 'OrderReleased'].includes(kind)
  const ofMaker = kindsOf(maker).filter((kind) => !isOfHold(kind))
  expect(ofMaker).to.deep.equal(['OrderPlaced', 'OrderMatched', 'OrderFilled'])
  const ofTaker = kindsOf(taker).filter((kind) => !(isOfHold(kind) || kind === 'OrderMatched'))
  expect(ofTaker).to.deep.equal(['OrderPlaced', 'OrderFilled'])

  const fill = fillOf(changes.filter(({ orderId }) => orderId === taker.order_id))
  expect(readAttempts(venue, fill.settlementId)).to.deep.equal([fill.txHash])
  const { world } = venue
  // Of what the chain forgot, the same bytes are sent again.
  await eventually(async () => (await isSettled(venue, fill.txHash)) === true)
  const sent = await world.client.getTransactionCount({ address: world.executor })
  expect(sent - sentBefore, 'transactions').to.equal(1)
  for (const { owner_address, nonce } of orders) {
    const filled = await world.client.readContract({
      address: market.module,
      abi: tradeModuleAbi,
      functionName: 'filled',
      args: [owner_address as Address, BigInt(nonce)],
    })
    expect(filled).to.equal(market.filled)
  }
}

function fillOf(changes: readonly Change[]) {
  const filled = changes.find((change) => change.kind === 'OrderFilled')
  if (filled?.kind !== 'OrderFilled') throw new Error('no fill')
  return filled.fill
}

/** Ids of the placements in the log, one for each number that a writer gave: a repeat is the writer's right. */
async function commandsOf(
  { bus }: PocketVenue,
  { name, row }: PocketMarket,
  ids: readonly string[],
): Promise<string[]> {
  const stream = commandsStream(name)
  const { decode } = commandMessages(row)
  const placed = new Map<string, string>()
  for (let next = 1; ;) {
    const messages = await bus.read(stream, next, 512)
    if (messages.length === 0) return [...placed.values()]
    for (const { source, sourceNo, command } of messages.flatMap(({ data }) => decode(data))) {
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
  const abi = [...tradeModuleAbi, ...futureTradeModuleAbi]
  const eventName = ['OrderMatched', 'FutureMatched'] as const
  const logs = parseEventLogs({ abi, logs: receipt.logs, eventName: [...eventName] })
  return receipt.status === 'success' && logs.length === 1
}
