import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { createRestClient, type OrderRecord } from '../../../client/index.js'
import type { Address, Hex } from '../../../core/action.js'
import { dateCodeOf } from '../../../core/contracts/future.js'
import type { Market } from '../../../core/model/market.js'
import { roleAccounts } from '../../../devnet/chain/accounts.js'
import { seedTradingAccounts, type TokenBalances } from '../../../devnet/chain/seed-accounts.js'
import { createSeries } from '../../../devnet/series/next-series.js'
import { createBatch } from '../../../devnet/chain/transaction-batch.js'
import { inProject } from '../../../devnet/launcher/binaries.js'
import { marketsIn, readRegister } from '../../../runtime/bus/market-register.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import { signedOrderBody, type OrderBody, type OrderTerms } from '../../support/builders.js'
import { eventually } from '../../support/eventually.js'
import { seriesRow } from '../../support/series-rows.js'
import type { TestVenue } from '../../support/venue.js'

const DAY_SEC = 86_400
const CONTRACT_FEE_BOUND = 3n * 10n ** 18n

/**
 * Opens a series that expires at 14:00 UTC on the twentieth day from the chain's, and adds it to the running venue as its
 * operator does; resolves once it is listed.
 */
export async function openSeries(venue: TestVenue, ordinal: number): Promise<Market> {
  const { deployer } = await roleAccounts(venue.dataDir)
  const { privateKey } = deployer
  const { rpc_url: rpcUrl } = venue.devnet
  const batch = await createBatch({ rpcUrl, privateKey })
  const today = Number(await batch.newestBlockTimeSec()) / DAY_SEC
  const expirySec = (Math.floor(today) + 20) * DAY_SEC + 14 * 3_600
  await createSeries({ rpcUrl, privateKey }, venue.devnet.future_asset, expirySec)

  const name = `USDC-cNGN-${dateCodeOf(BigInt(expirySec))}`
  const file = join(venue.dataDir, 'series.json')
  await writeFile(file, JSON.stringify([seriesRow(name, ordinal, BigInt(expirySec))]))
  const { output } = await runCommand(venue, 'market', 'add', file)
  if (!output.includes(`${name}: enabled`)) throw new Error(`not added: ${output}`)
  const rest = createRestClient(venue.gatewayUrl)
  await eventually(async () => (await rest.markets()).some(({ market }) => market === name), 60_000)
  await venue.untilReady()
  return registeredMarket(venue, name)
}

/** A market of the venue's register. */
export async function registeredMarket({ bus: place }: TestVenue, name: string): Promise<Market> {
  const bus = await connectNatsBus({ ...place, name: 'test', user: 'operator' })
  const market = marketsIn(await readRegister(bus)).find((each) => each.market === name)
  await bus.close()
  if (market === undefined) throw new Error(`${name} is not registered`)
  return market
}

/** Runs a command of the operator, such as `./venue market list`. */
export async function runCommand({ dataDir }: TestVenue, ...words: string[]) {
  const env = { PATH: process.env.PATH, DATA_DIR: dataDir }
  const child = spawn('./venue', words, { cwd: inProject('.'), env })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = (await once(child, 'close')) as [number | null]
  return { code, output }
}

type Wish = Pick<OrderTerms, 'side' | 'price' | 'amount'>

/** One of the devnet's accounts with a trading account under the futures manager. */
export interface SeriesTrader {
  readonly address: Address
  readonly privateKey: Hex
  readonly subaccountId: bigint
  readonly sign: (wish: Wish) => Promise<OrderBody>
  readonly place: (wish: Wish) => Promise<OrderRecord>
  /** The status of the answer and its body. */
  readonly post: (body: object) => Promise<readonly [number, Record<string, unknown>]>
  readonly until: (orderId: string, status: string) => Promise<void>
}

/** Gives the first accounts of the devnet trading accounts with so much of both tokens, in 6 decimals. */
export async function openSeriesTraders(
  venue: TestVenue,
  market: Market,
  funds: TokenBalances,
  count = 2,
): Promise<SeriesTrader[]> {
  const { deployer } = await roleAccounts(venue.dataDir)
  const accounts = venue.devnet.accounts.slice(0, count)
  const sender = { rpcUrl: venue.devnet.rpc_url, privateKey: deployer.privateKey }
  const deployment = venue.devnet
  const owners = accounts.map(({ address }) => address)
  const ids = await seedTradingAccounts(
    { ...sender, deployment, owners },
    deployment.futures_manager,
    funds,
  )
  return accounts.map(({ private_key: key }, i) => traderOf(venue, market, key, ids[i] ?? 0n))
}

function traderOf(
  venue: TestVenue,
  market: Market,
  privateKey: Hex,
  subaccountId: bigint,
): SeriesTrader {
  const { devnet, gatewayUrl } = venue
  const rest = createRestClient(gatewayUrl)
  const domain = { chainId: devnet.chain_id, verifyingContract: devnet.matching }
  let nonce = BigInt(Date.now()) * 1_000n + subaccountId * 10n ** 20n
  const sign: SeriesTrader['sign'] = (wish) => {
    nonce += 1n
    const orderId = `future-${nonce}`
    const worstFee = CONTRACT_FEE_BOUND
    const terms = { ...wish, orderId, worstFee, market, privateKey, subaccountId, nonce, domain }
    return signedOrderBody(terms)
  }
  const post: SeriesTrader['post'] = async (body) => {
    const headers = { 'content-type': 'application/json' }
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(new URL('/v1/orders', gatewayUrl), init)
    return [response.status, (await response.json()) as Record<string, unknown>]
  }
  return {
    address: privateKeyToAccount(privateKey).address.toLowerCase() as Address,
    privateKey,
    subaccountId,
    sign,
    post,
    async place(wish) {
      const [status, body] = await post(await sign(wish))
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body.order as OrderRecord
    },
    until: (orderId, status) =>
      eventually(async () => (await rest.order(orderId)).status === status, 60_000),
  }
}
