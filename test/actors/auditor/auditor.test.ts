import Sqlite from 'better-sqlite3'
import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { audit, ChainMoved } from '../../../actors/auditor/audit.js'
import {
  CHECKS,
  wordVerdicts,
  type AuditCheck,
  type AuditVerdict,
} from '../../../actors/auditor/verdicts.js'
import { decodeBlock, encodeBlock } from '../../../bus-schemas/blocks.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import {
  askPing,
  checkpointsStream,
  commandsStream,
  feedStream,
} from '../../../bus-schemas/subjects.js'
import { encodeMatch } from '../../../chain/contracts/calldata.js'
import { createChainClient } from '../../../chain/reads/client.js'
import type { Block, Change } from '../../../core/model/change.js'
import { amountE18, priceE18, quoteE18 } from '../../../core/money.js'
import { openLiveHistory } from '../../../data/history/compare-histories.js'
import { loadDeployedMarkets } from '../../../data/markets.js'
import { MessagesGone, StreamMissing, type Bus, type BusMessage } from '../../../runtime/bus/bus.js'
import { listCheckpoints } from '../../../runtime/bus/checkpoint-store.js'
import { runAudit } from '../../support/audit.js'
import { ONE, signOrder } from '../../support/devnet-actions.js'
import { perform } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import { openPocketVenue, type PocketVenue } from '../../support/pocket-venue.js'
import { decodeCommands, encodeCommands } from '../../support/spot-log.js'

const MARKET = 'cNGN-USDC'
const MAIN = fileURLToPath(new URL('../../../actors/auditor/main.js', import.meta.url))
const FEED = feedStream(MARKET)
const PROCESSES = ['intake', 'matcher', 'executor', 'projector'] as const

/** What an audit reads, some of it not as it was. */
interface Planted {
  readonly bus?: Bus
  readonly dataDir?: string
}

interface Row {
  readonly what: string
  readonly plant: (venue: PocketVenue) => Planted | Promise<Planted>
  /** Each of these has to see it; others may. */
  readonly seenBy: readonly AuditCheck[]
}

const ROWS: readonly Row[] = [
  {
    what: 'a trade of another amount in history.db',
    plant: inFile(
      'history.db',
      `UPDATE trades SET amount = '1' WHERE trade_id = (SELECT max(trade_id) FROM trades)`,
    ),
    seenBy: ['history'],
  },
  {
    what: 'an order that history.db has lost',
    plant: inFile('history.db', `DELETE FROM order_progress WHERE open <> '0'`),
    seenBy: ['history'],
  },
  {
    what: 'an order of another status in history.db',
    plant: inFile(
      'history.db',
      `UPDATE order_progress SET status = 'expired' WHERE status = 'cancelled'`,
    ),
    seenBy: ['history'],
  },
  {
    what: 'a change that the feed has lost',
    plant: (venue) => ({ bus: withFeed(venue.bus, (block) => withoutOne(block)) }),
    seenBy: ['replay', 'sequence'],
  },
  {
    what: 'a fill that the feed tells twice',
    plant: (venue) => ({ bus: withFeed(venue.bus, (block) => withTwice(block)) }),
    seenBy: ['replay', 'fills', 'orders'],
  },
  {
    what: 'a fill that the feed tells with another amount',
    plant: (venue) => ({ bus: withFeed(venue.bus, (block) => withLessFilled(block)) }),
    seenBy: ['replay', 'orders', 'settlements', 'filled'],
  },
  {
    what: 'a command that is not the one the matcher has read',
    plant: (venue) => ({ bus: withCommands(venue.bus) }),
    seenBy: ['replay'],
  },
  {
    what: 'a settlement that the journal never heard of',
    plant: inFile('executor.db', 'DELETE FROM transaction_intents', 'DELETE FROM intents'),
    seenBy: ['journal'],
  },
  {
    what: 'a settlement that the journal calls reverted',
    plant: inFile(
      'executor.db',
      `UPDATE transaction_intents SET outcome = 'reverted', revert = 'x'`,
    ),
    seenBy: ['journal'],
  },
  {
    what: 'a success of the journal that was never matched',
    plant: inFile('executor.db', ...renamedIntent('foreign:1')),
    seenBy: ['journal'],
  },
]

describe('the auditor', function () {
  let venue: PocketVenue

  before(async () => {
    // Often, so that there are some to replay from.
    venue = await openPocketVenue({ CHECKPOINT_COMMANDS: '2' })
    await Promise.all(PROCESSES.map((it) => venue.start(it)))
    await tradeALittle(venue)
  })
  after(() => venue?.stop())

  it('finds nothing wrong with a healthy venue', async () => {
    const verdicts = await auditOf(venue)
    expect(wordVerdicts(verdicts)).to.not.match(/failed|skipped/)
    // Accounts of a spot market have balances, which move without fills.
    const ofSpot = verdicts.filter(({ market }) => market === MARKET)
    expect(ofSpot.map(({ check }) => check)).to.deep.equal(
      CHECKS.filter((check) => check !== 'positions'),
    )
    const fills = ofSpot.find(({ check }) => check === 'fills')?.detail
    expect(fills).to.match(/^2 trades of 650\.5 cNGN, fees of 0\.\d+ USDC$/)
    const ofPerp = verdicts.filter(({ market }) => market === 'cNGN-PERP')
    expect(ofPerp.map(({ check }) => check)).to.deep.equal([...CHECKS])
  })

  it('says so with exit code 0, and by itself while it is left running (OPE-049)', async () => {
    expect((await run(venue)).code).to.equal(0)
    const child = spawn(process.execPath, [MAIN], {
      env: { ...venue.env, AUDIT_EVERY_S: '1' },
      stdio: ['ignore', 'ignore', 'inherit'],
    })
    await eventually(async () => {
      const answer = await venue.bus.ask(askPing('auditor'), new Uint8Array(), 500)
      const { ready, positions } = decodePingAnswer(answer)
      return ready && (positions.audits ?? 0) >= 2
    })
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).to.deep.equal([0, null])
  })

  for (const { what, plant, seenBy } of ROWS) {
    it(`sees ${what}`, async () => {
      const planted = await plant(venue)
      const verdicts = await auditOf(venue, planted)
      const failed = verdicts.filter(({ result }) => result === 'failed').map(({ check }) => check)
      expect(failed, wordVerdicts(verdicts)).to.include.members([...seenBy])
      if (planted.dataDir !== undefined) rmSync(planted.dataDir, { recursive: true })
    })
  }

  it('ends with exit code 1 when it sees something (OPE-049)', async () => {
    const { dataDir } = inFile('history.db', 'DELETE FROM fills')(venue)
    const { code, output } = await run(venue, dataDir)
    expect(code).to.equal(1)
    expect(output).to.match(/^failed  cNGN-USDC history: /m)
    expect(output).to.match(/^ok      cNGN-USDC replay: /m)
    rmSync(dataDir ?? '', { recursive: true })
  })

  it('says what it could not read', async () => {
    const verdicts = await auditOf(venue, { dataDir: join(venue.dataDir, 'nowhere') })
    const skipped = verdicts.filter(({ result }) => result === 'skipped').map(({ check }) => check)
    expect([...new Set(skipped)]).to.deep.equal(['history', 'journal'])
    const bus = trimmedTo(venue.bus, 2)
    const streamState: Bus['streamState'] = (stream) =>
      stream === checkpointsStream(MARKET)
        ? Promise.reject(new StreamMissing(stream))
        : bus.streamState(stream)
    const trimmed = await auditOf(venue, { bus: { ...bus, streamState } })
    expect(trimmed.find(({ check }) => check === 'replay')?.result).to.equal('skipped')
  })

  it('replays a trimmed log from the oldest checkpoint that reaches it', async () => {
    const checkpoints = await listCheckpoints(venue.bus, MARKET)
    const oldest = checkpoints.at(-1)?.commandSeq ?? 0
    expect(oldest).to.be.above(0)
    const verdicts = await auditOf(venue, { bus: trimmedTo(venue.bus, oldest + 1) })
    const replay = verdicts.find(({ check }) => check === 'replay')
    expect(replay?.result, replay?.findings.join()).to.equal('ok')
    expect(replay?.detail).to.include('from a checkpoint')
  })

  it('draws no conclusion from a chain that moved while it was read', async () => {
    const client = createChainClient(venue.world.anvil.rpcUrl, 'read')
    let asked = 0
    const moving = async (args?: { blockNumber?: bigint }) => {
      asked += 1
      const block = await client.getBlock(args)
      return asked > 1 ? { ...block, hash: `0x${'00'.repeat(32)}` } : block
    }
    const options = {
      ...optionsOf(venue),
      client: { ...client, getBlock: moving as typeof client.getBlock },
    }
    const error: unknown = await audit(options).catch((thrown: unknown) => thrown)
    expect(error).to.be.instanceOf(ChainMoved)
  })

  // These two change the chain itself, so they come last.
  it('sees a settlement that the chain has lost and no process sends again (OPE-050)', async () => {
    const { client } = venue.world
    const snapshot = await client.snapshot()
    const seller = await venue.order(venue.world.bob, 'sell', '7')
    const buyer = await venue.order(venue.world.alice, 'buy', '7')
    for (const order of [seller, buyer]) await venue.place(order)
    await untilFilled(venue, buyer.order_id)
    venue.signal('executor', 'SIGKILL')
    await venue.ended('executor')
    await client.revert({ id: snapshot })
    const verdicts = await auditOf(venue)
    expect(findingsOf(verdicts, 'settlements')).to.match(/has no fill in 0x/)
  })

  it('sees a fill on the chain without a match (OPE-050)', async () => {
    await settleWithoutAMatch(venue)
    const verdicts = await auditOf(venue)
    expect(findingsOf(verdicts, 'settlements')).to.include('belongs to no settlement of ours')
  })
})

const findingsOf = (verdicts: readonly AuditVerdict[], check: AuditCheck): string =>
  verdicts
    .filter((verdict) => verdict.check === check)
    .flatMap(({ findings }) => findings)
    .join()

const optionsOf = (venue: PocketVenue) => ({
  bus: venue.bus,
  client: createChainClient(venue.world.anvil.rpcUrl, 'read'),
  markets: loadDeployedMarkets({ DEPLOYMENT_FILE: venue.env.DEPLOYMENT_FILE ?? '' }).markets,
  dataDir: venue.dataDir,
  fromBlock: 0n,
  feesKept: true,
})

const auditOf = (venue: PocketVenue, planted: Planted = {}): Promise<AuditVerdict[]> =>
  audit({ ...optionsOf(venue), ...planted })

const run = ({ env, dataDir }: PocketVenue, of = dataDir) => runAudit({ ...env, DATA_DIR: of })

/** Full and partial fills, an order that rests and one that is cancelled; in the read model when this resolves. */
async function tradeALittle(venue: PocketVenue): Promise<void> {
  const { alice, bob, carol } = venue.world
  const sell = await venue.order(bob, 'sell', '1000')
  const buys = [await venue.order(alice, 'buy', '400'), await venue.order(carol, 'buy', '250.5')]
  for (const order of [sell, ...buys]) await venue.place(order)
  for (const { order_id } of buys) await untilFilled(venue, order_id)
  const cancelled = await venue.order(carol, 'sell', '5')
  await venue.place(cancelled)
  await venue.cancel(cancelled)
  const { lastSeq } = await venue.bus.streamState(FEED)
  await eventually(() => {
    const history = openLiveHistory(venue.dataDir)
    const there = history?.streamSeq(MARKET)
    history?.close()
    return there === lastSeq
  })
}

async function untilFilled(venue: PocketVenue, orderId: string): Promise<void> {
  await eventually(async () =>
    (await venue.changesOf([orderId])).some(({ kind }) => kind === 'OrderFilled'),
  )
}

/** A copy of the venue's files in which one of them was changed by these statements. */
function inFile(file: string, ...statements: readonly string[]) {
  return ({ dataDir }: PocketVenue): Planted => {
    const copy = `${dataDir}-planted`
    cpSync(dataDir, copy, { recursive: true })
    const db = new Sqlite(join(copy, file))
    db.pragma('foreign_keys = OFF')
    const changes = statements.map((sql) => db.prepare(sql).run().changes)
    db.close()
    expect(changes.at(-1), 'rows changed').to.be.above(0)
    return { dataDir: copy }
  }
}

function renamedIntent(id: string): string[] {
  const last = '(SELECT max(rowid) FROM intents)'
  return [
    `UPDATE transaction_intents SET intent_id = '${id}'
     WHERE intent_id = (SELECT intent_id FROM intents WHERE rowid = ${last})`,
    `UPDATE intents SET intent_id = '${id}' WHERE rowid = ${last}`,
  ]
}

function withMessages(bus: Bus, of: string, edit: (message: BusMessage) => Uint8Array): Bus {
  const read: Bus['read'] = async (stream, fromSeq, limit) => {
    const messages = await bus.read(stream, fromSeq, limit)
    return stream === of ? messages.map((it) => ({ ...it, data: edit(it) })) : messages
  }
  return { ...bus, read }
}

/** A feed whose first block for which `edit` has something else to say says that; later blocks stay as they are. */
function withFeed(bus: Bus, edit: (block: Block) => readonly Change[] | undefined): Bus {
  let editedSeq: number | undefined
  return withMessages(bus, FEED, ({ seq, data }) => {
    const block = decodeBlock(data)
    const changes = editedSeq === undefined || editedSeq === seq ? edit(block) : undefined
    if (changes === undefined) return data
    editedSeq = seq
    return encodeBlock({ ...block, changes: inSequence(block.firstSeq, changes) })
  })
}

const inSequence = (firstSeq: number, changes: readonly Change[]): Change[] =>
  changes.map((change, index) => ({ ...change, seq: firstSeq + index }))

const hasFills = ({ changes }: Block): boolean => changes.some(({ kind }) => kind === 'OrderFilled')

const withoutOne = (block: Block) => (hasFills(block) ? block.changes.slice(0, -1) : undefined)

const withTwice = (block: Block) =>
  hasFills(block) ? [...block.changes, ...block.changes] : undefined

const withLessFilled = (block: Block) =>
  hasFills(block)
    ? block.changes.map((change) =>
        change.kind === 'OrderFilled'
          ? { ...change, fill: { ...change.fill, amount: amountE18(change.fill.amount - 1n) } }
          : change,
      )
    : undefined

/** A bus on which the command log begins at this message. */
function trimmedTo(bus: Bus, firstSeq: number): Bus {
  const log = commandsStream(MARKET)
  return {
    ...bus,
    streamState: async (stream) => {
      const state = await bus.streamState(stream)
      return stream === log ? { ...state, firstSeq } : state
    },
    read: (stream, fromSeq, limit) =>
      stream === log && fromSeq < firstSeq
        ? Promise.reject(new MessagesGone(`${stream} begins at ${firstSeq}`))
        : bus.read(stream, fromSeq, limit),
  }
}

/** A command log in which every placement has another amount than the matcher read. */
function withCommands(bus: Bus): Bus {
  return withMessages(bus, commandsStream(MARKET), ({ data }) => {
    const commands = decodeCommands(data).map((logged) => {
      const { command } = logged
      if (command.kind !== 'PlaceOrder') return logged
      const desiredAmount = amountE18(command.order.desiredAmount + ONE)
      return { ...logged, command: { ...command, order: { ...command.order, desiredAmount } } }
    })
    return encodeCommands(commands)
  })
}

/** With the executor's own key, as after a leak of it. */
async function settleWithoutAMatch({ world }: PocketVenue): Promise<void> {
  const taker = await signOrder(world, world.alice, { isBid: true })
  const maker = await signOrder(world, world.bob, { isBid: false })
  const data = encodeMatch({
    actions: [taker, maker].map(({ action: { subaccountId, ...action } }) => ({
      subaccountId,
      ...action,
    })),
    signatures: [taker.signature, maker.signature],
    orderData: {
      takerAccount: taker.action.subaccountId,
      takerFee: quoteE18(0n),
      fillDetails: [
        {
          filledAccount: maker.action.subaccountId,
          amountFilled: amountE18(ONE),
          price: priceE18(maker.trade.limitPrice),
          fee: quoteE18(0n),
        },
      ],
      managerData: '0x',
    },
  })
  await perform(world, { from: world.executor, to: world.at.matching, data })
}
