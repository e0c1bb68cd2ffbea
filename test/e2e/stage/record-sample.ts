import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import {
  checkpointsStream,
  checkpointsSubject,
  commandsStream,
  commandsSubject,
  feedStream,
  feedSubject,
  journalStream,
  journalSubject,
  LEADING_PROCESSES,
  leadStream,
  leadSubject,
  registerStream,
  registerSubject,
  transfersStream,
  transfersSubjects,
} from '../../../bus-schemas/subjects.js'
import { JOURNAL_OWNERS } from '../../../core/transaction-journal.js'
import { JOURNAL_FILES } from '../../../data/journal/journal-file.js'
import { createRestClient, nearestSeries, randomNonce, signOrder } from '../../../client/index.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { listCheckpoints } from '../../../runtime/bus/checkpoint-store.js'
import { eventually } from '../../support/eventually.js'
import { startVenue, type TestVenue } from '../../support/venue.js'
import { connectToVenueBus } from '../../support/venue-bus.js'
import { readAnswers, withStore, writeFiles, writeStreams } from './sample.js'
import { PERP } from './perp-trader.js'
import { createTrader, SPOT } from './trader.js'
import { createTransferUser } from './transfer-user.js'

/** Far away, so that the book of a sample that is years old is the recorded one. */
const LIVES_SEC = 60 * 365 * 86_400
/** An order may end later than every date, up to the exact numbers. */
const FAR_EXPIRY_SEC = 9_007_199_254_751

/** One of everything that a market's log may hold without a fault of the chain. */
async function trade({ devnet }: TestVenue) {
  const [ann, bob, cat] = [0, 1, 2].map((index) => createTrader(devnet, index))
  if (ann === undefined || bob === undefined || cat === undefined) throw new Error('no traders')
  const start = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString()
  const order = { side: 'sell', livesSec: LIVES_SEC } as const
  const maker = await ann.place({ ...order, amount: '1000', price: '0.00066' })
  await cat.place({ ...order, amount: '250.5', price: '0.00067' })
  const gone = await cat.place({ ...order, amount: '10', price: '0.0007' })
  await cat.cancel(gone)
  const livesSec = FAR_EXPIRY_SEC - Math.floor(Date.now() / 1_000)
  await cat.place({ side: 'sell', livesSec, amount: '20', price: '0.00071' })
  const taker = await bob.place({ ...order, side: 'buy', amount: '400', price: '0.00066' })
  await bob.until(taker.order_id, 'filled')
  const second = await bob.place({ ...order, side: 'buy', amount: '700', price: '0.00067' })
  await bob.until(second.order_id, 'filled')
  await ann.until(maker.order_id, 'filled')
  // It cannot be paid for: held, and shown to its owner alone.
  await ann.place({ ...order, side: 'buy', amount: '9000000000', price: '0.00065' })
  for (const price of ['0.00064', '0.00063', '0.00062'])
    await bob.place({ ...order, side: 'buy', amount: '125', price })
  // The last minute of a trade ends with the next one.
  const end = new Date(Math.ceil(Date.now() / 60_000) * 60_000).toISOString()
  return { start, end }
}

interface MarginTrade {
  readonly market: string
  readonly accounts: 'perp_subaccount_id' | 'spot_subaccount_id'
  readonly traders: readonly [maker: number, taker: number]
  readonly price: string
  readonly amount: string
}

/** A trade with margin, all of it filled: what rests would end with a series. */
async function tradeWithMargin({ devnet }: TestVenue, trade: MarginTrade): Promise<void> {
  const venue = createRestClient(devnet.gateway_url)
  const market = (await venue.markets()).find((each) => each.market === trade.market)
  if (market === undefined) throw new Error(`${trade.market} is not listed`)
  const domain = { chainId: devnet.chain_id, matching: devnet.matching }
  const place = async (index: number, side: 'buy' | 'sell', controls: object) => {
    const account = devnet.accounts[index]
    if (account === undefined) throw new Error(`no account ${index}`)
    const { price, amount } = trade
    const body = await signOrder(privateKeyToAccount(account.private_key), domain, {
      market,
      side,
      price,
      amount,
      orderId: `${trade.market}-${side}`,
      subaccountId: account[trade.accounts],
      nonce: randomNonce(),
      expirySec: Math.floor(Date.now() / 1_000) + LIVES_SEC,
    })
    return venue.placeOrder({ ...body, ...controls })
  }
  const maker = await place(trade.traders[0], 'sell', { post_only: 'reject' })
  await place(trade.traders[1], 'buy', { time_in_force: 'IOC' })
  await eventually(async () => (await venue.order(maker.order_id)).status === 'filled', 60_000)
}

async function transfer({ devnet }: TestVenue) {
  const dave = createTransferUser(devnet, 3)
  const deposit = await dave.deposit('25', { permit: await dave.permit('25') })
  const { action_hash: deposited } = await dave.venue.deposit(deposit)
  await dave.venue.settledDeposit(deposited)
  const withdrawal = await dave.withdrawal({ asset: devnet.wrapped_usdc, amount: '3.5' })
  const { action_hash: withdrawn } = await dave.venue.withdraw(withdrawal)
  await dave.venue.settledWithdrawal(withdrawn)
  return { deposits: [deposited], withdrawals: [withdrawn] }
}

/** Waits until the venue has stored a checkpoint. */
async function untilCheckpoint({ dataDir }: TestVenue): Promise<void> {
  const bus = await connectToVenueBus(dataDir, 'auditor')
  try {
    await eventually(async () => (await listCheckpoints(bus, SPOT)).length > 0, 120_000)
  } finally {
    await bus.close()
  }
}

const streamsOf = (markets: readonly string[], dataDir: string) => [
  { stream: registerStream, subject: registerSubject },
  ...LEADING_PROCESSES.map((process) => ({
    stream: leadStream(process),
    subject: leadSubject(process),
  })),
  ...markets.flatMap((market) => [
    { stream: commandsStream(market), subject: commandsSubject(market) },
    { stream: feedStream(market), subject: feedSubject(market) },
    { stream: checkpointsStream(market), subject: checkpointsSubject(market) },
  ]),
  // The keeper of a venue without its key has none.
  ...JOURNAL_OWNERS.filter((owner) => existsSync(join(dataDir, JOURNAL_FILES[owner]))).map(
    (owner) => ({
      stream: journalStream(owner),
      subject: journalSubject(owner),
    }),
  ),
  { stream: transfersStream, subject: transfersSubjects },
]

/** Runs a small venue with a market of each kind for about a minute, and writes its data directory to the folder. */
export async function recordSample(folder: string): Promise<void> {
  const venue = await startVenue({
    blockTime: 1,
    markets: 'all',
    env: { CHECKPOINT_COMMANDS: '40', CHECKPOINT_SECONDS: '20' },
  })
  try {
    await fill(venue, folder)
  } finally {
    await venue.stop()
  }
}

async function fill(venue: TestVenue, folder: string): Promise<void> {
  const rest = createRestClient(venue.gatewayUrl)
  await eventually(async () => nearestSeries(await rest.markets()) !== undefined, 60_000)
  const listed = await rest.markets()
  const { market: series } = nearestSeries(listed) ?? { market: '' }
  await tradeWithMargin(venue, {
    market: PERP,
    accounts: 'perp_subaccount_id',
    traders: [0, 1],
    price: '0.00065',
    amount: '1000',
  })
  // Spot orders of an account with a position in futures wait while the index is stale, as it is in a sample.
  await tradeWithMargin(venue, {
    market: series,
    accounts: 'spot_subaccount_id',
    traders: [4, 5],
    price: '1538',
    amount: '10',
  })
  const noted = { ...(await trade(venue)), ...(await transfer(venue)) }
  await untilCheckpoint(venue)
  const answers = await readAnswers(venue.devnet, noted)
  await venue.stop({ keepData: true })
  writeFiles(venue.dataDir, folder)
  const kept = streamsOf(
    listed.map(({ market }) => market),
    venue.dataDir,
  )
  const streams = await withStore(venue.dataDir, (bus) => writeStreams(bus, kept, folder))
  const { version: release } = JSON.parse(readFileSync(inProject('package.json'), 'utf8')) as {
    version: string
  }
  const manifest = { release, recordedAt: new Date().toISOString(), streams, ...noted }
  const write = (file: string, value: unknown): void =>
    writeFileSync(join(folder, file), `${JSON.stringify(value, null, 1)}\n`)
  write('answers.json', answers)
  write('manifest.json', manifest)
}
