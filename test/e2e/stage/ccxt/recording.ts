import { writeFileSync } from 'node:fs'
import { VenuePro } from '../../../../ccxt/index.js'
import { inProject } from '../../../../devnet/launcher/binaries.js'
import { record, type RecordedCall } from '../../../ccxt/recorded-exchange.js'
import { deal, type CcxtWorld } from './world.js'

/** Writes the calls that test/ccxt/recorded.test.ts makes again, where WRITE_CCXT asks for it. */
export async function writeRecording(world: CcxtWorld): Promise<void> {
  const { taker, venue, desks } = world
  for (const desk of desks) await deal(world, desk)
  const { privateKey: private_key } = taker
  const urls = { api: { rest: venue.gatewayUrl } }
  const call = record(new VenuePro({ privateKey: private_key, urls }), venue.gatewayUrl)
  const calls: RecordedCall[] = [
    await call('loadMarkets'),
    await call('fetchTickers'),
    await call('fetchFundingRates'),
    await call('fetchLeverageTiers'),
    await call('fetchAccounts'),
    await call('fetchPositions'),
  ]
  for (const { symbol, type, amount, low } of desks) {
    calls.push(await call('fetchOrderBook', symbol, 10))
    calls.push(await call('fetchTrades', symbol, undefined, 2))
    calls.push(await call('fetchOHLCV', symbol, '1m', undefined, 2))
    calls.push(await call('fetchBalance', { type }))
    const options = { postOnly: true, clientOrderId: `recorded-${type}` }
    calls.push(await call('createOrder', symbol, 'limit', 'buy', amount, low, options))
    const placed = options.clientOrderId
    calls.push(await call('fetchOrder', placed))
    calls.push(await call('fetchOpenOrders', symbol))
    const edited = await call('editOrder', placed, symbol, 'limit', 'buy', amount * 2, low)
    calls.push(edited, await call('cancelAllOrders', symbol))
    calls.push(await call('fetchMyTrades', symbol, undefined, 2))
    calls.push(await call('fetchOrders', symbol, undefined, 2))
  }
  const wish = { symbol: desks[0].symbol, type: 'limit', side: 'buy', amount: 1_000, price: 0.0005 }
  const batch = await call('createOrders', [wish, wish])
  const ids = (batch.returns as { readonly id: string }[]).map(({ id }) => id)
  calls.push(batch, await call('cancelOrders', ids), await call('cancelAllOrdersAfter', 0))
  const file = inProject('test/ccxt/recorded-calls.json')
  // A line for each call.
  const lines = calls.map((each) => JSON.stringify(each)).join(',\n')
  writeFileSync(file, `{"private_key":"${private_key}","calls":[\n${lines}\n]}\n`)
  for (const desk of desks) await deal(world, desk, 'sell')
}
