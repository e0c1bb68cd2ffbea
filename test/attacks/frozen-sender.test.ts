import { expect } from 'chai'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createPublicClient, createWalletClient, http, type Hex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { createRestClient, type MarketEntry } from '../../client/index.js'
import { roleAccounts } from '../../devnet/chain/accounts.js'
import { inProject } from '../../devnet/launcher/binaries.js'
import { createTrader, SPOT, type Trader } from '../e2e/stage/trader.js'
import { inheritedEnvironment } from '../support/config.js'
import { eventually } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'

/** Three looks two seconds apart find the transaction, five seconds later the market is held. */
const HELD_WITHIN_MS = 60_000
/** Twelve blocks of a second, and what a busy machine takes. */
const FINAL_WITHIN_MS = 90_000

describe('a transaction of the executor’s key from elsewhere', function () {
  let venue: TestVenue
  let seller: Trader
  let buyer: Trader
  let hash: Hex

  before(async () => {
    venue = await startVenue({ blockTime: 1 })
    seller = createTrader(venue.devnet, 0)
    buyer = createTrader(venue.devnet, 1)
  })
  after(() => venue?.stop())

  const market = async (): Promise<MarketEntry | undefined> =>
    (await createRestClient(venue.gatewayUrl).markets()).find((each) => each.market === SPOT)
  const untilMarket = (status: string, reason: string | undefined) =>
    eventually(async () => {
      const entry = await market()
      expect([entry?.trading_status, entry?.trading_status_reason]).to.deep.equal([status, reason])
    }, HELD_WITHIN_MS)
  const trade = async (): Promise<void> => {
    const maker = await seller.place({ side: 'sell', price: '0.002', amount: '2' })
    const taker = await buyer.place({ side: 'buy', price: '0.002', amount: '2' })
    await buyer.until(taker.order_id, 'filled')
    await seller.until(maker.order_id, 'filled')
  }
  const text = async (path: string): Promise<string> =>
    (await fetch(new URL(path, venue.gatewayUrl))).text()

  async function sendForeign(): Promise<Hex> {
    const { rpc_url: rpcUrl } = venue.devnet
    const { executor } = await roleAccounts(venue.dataDir)
    const account = privateKeyToAccount(executor.privateKey)
    const sender = createWalletClient({ account, transport: http(rpcUrl) })
    const sent = await sender.sendTransaction({ chain: null, to: account.address, value: 1n })
    const chain = createPublicClient({ transport: http(rpcUrl) })
    await chain.waitForTransactionReceipt({ hash: sent })
    return sent
  }

  const accept = (txHash: string) => venueTells('accept-foreign', 'executor', txHash)

  async function venueTells(...words: readonly string[]) {
    const child = spawn('./venue', words, {
      cwd: inProject('.'),
      env: { ...inheritedEnvironment(), DATA_DIR: venue.dataDir },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let said = ''
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, said }
  }

  it('holds the market, which says why, while orders rest and are cancelled (SET-063)', async () => {
    await trade()
    hash = await sendForeign()
    await untilMarket('held', 'settlement_unavailable')
    const maker = await seller.place({ side: 'sell', price: '0.002', amount: '2' })
    const taker = await buyer.place({ side: 'buy', price: '0.002', amount: '2' })
    expect([maker.status, taker.status]).to.deep.equal(['active', 'active'])
    const explained = JSON.parse(await text(`/v1/orders/${taker.order_id}/explain`)) as object
    expect(explained).to.include({ code: 'market_not_open' })
    expect(JSON.stringify(explained)).to.include('The executor takes no settlement')
    expect(await buyer.cancel(taker)).to.include({ status: 'cancelled', filled_amount: '0' })
    expect(await seller.cancel(maker)).to.include({ status: 'cancelled', filled_amount: '0' })
    expect((await fetch(new URL('/readyz', venue.gatewayUrl))).status).to.equal(503)
    expect(await text('/readyz')).to.include('settlement_unavailable')
  })

  it('is named with its hash, its nonce and its block, and how it is accepted', async () => {
    const answer = await fetch(new URL('/readyz', venue.devnet.executor_url))
    const said = await answer.text()
    expect(answer.status).to.equal(503)
    expect(said).to.match(/used nonce \d+ of the signer in block \d+/)
    expect(said).to.include(`./venue accept-foreign executor ${hash}`)
    expect((await venueTells('status')).said).to.include(hash)
  })

  it('is still there after a restart of the executor, and named', async () => {
    await venue.restartWorker('executor', 'SIGKILL')
    await eventually(async () => {
      const answer = await fetch(new URL('/readyz', venue.devnet.executor_url))
      expect(await answer.text()).to.include(hash)
    }, HELD_WITHIN_MS)
    expect(await market()).to.include({ trading_status_reason: 'settlement_unavailable' })
  })

  it('is accepted by one command, after which what rests is matched and settled', async () => {
    const maker = await seller.place({ side: 'sell', price: '0.002', amount: '2' })
    const taker = await buyer.place({ side: 'buy', price: '0.002', amount: '2' })
    const other = await accept(`0x${'12'.repeat(32)}`)
    expect(other.code).to.equal(1)
    expect(other.said).to.include(hash)
    await eventually(async () => {
      const { code, said } = await accept(hash)
      expect(said).to.include('the executor settles again')
      expect(code).to.equal(0)
    }, FINAL_WITHIN_MS)
    await untilMarket('open', undefined)
    await buyer.until(taker.order_id, 'filled')
    await seller.until(maker.order_id, 'filled')
    expect((await accept(hash)).said).to.include('no foreign transaction')
  })

  it('does not come back with the next start, and the next one is found as well', async () => {
    await venue.restartWorker('executor')
    await venue.untilReady()
    await trade()
    await sendForeign()
    await untilMarket('held', 'settlement_unavailable')
  })
})
