import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { privateKeyToAccount } from 'viem/accounts'
import { frameHeader, signCancelAll, signFrame, type OrderBody } from '../client/index.js'
import type { CancelsAnswer } from '../interface/cancels.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { createHttpLoad, postOf, saturate, type RequestBytes } from './http-load.js'
import { restingTerms, signersOf, SPOT, type Signers } from './order-flow.js'
import { interleaved, median, ratio } from './rounds.js'

export const cancel: Bench = {
  name: 'cancel',
  title:
    'A cancel of all of the thousand resting orders of an owner, over HTTP into the whole venue, compared with the cancel of one order.',
  versionsOf: ['koa', 'nats', 'nats-server'],
  run,
}

/** Orders of an owner that one request cancels. */
const ORDERS = { tiny: 20, usual: 1_000, full: 1_000 }
/** Single cancels of a round, of which the median counts. */
const SINGLE = { tiny: 3, usual: 25, full: 50 }
const CONNECTIONS = 64
/** After the orders are placed: until the read models and the subscribers' process have them too. */
const SETTLED_MS = 1_000

async function run({ size, rounds, dir, say, startVenue }: BenchContext): Promise<Report> {
  const venue = await startVenue({ dir: join(dir, 'venue'), env: { DEVNET_SAVE_CHAIN: '0' } })
  try {
    const { devnet } = venue
    const port = Number(new URL(devnet.gateway_url).port)
    const place = placer(await signersOf(devnet), port)
    const timed = timer(port)
    const [first] = devnet.accounts
    if (first === undefined) throw new Error('the devnet has no accounts')
    const owner = privateKeyToAccount(first.private_key)
    const domain = { chainId: devnet.chain_id, matching: devnet.matching }
    const count = ORDERS[size]
    let proofs = 0
    const cancelAll = async (body: object, headers = {}): Promise<number> => {
      const { tookMs, text } = await timed(postOf('/v1/orders/cancel-all', body, headers))
      const { orders, left } = JSON.parse(text) as CancelsAnswer
      if (orders.length < count || left !== 0) {
        throw new Error(`${orders.length} of ${count} orders were cancelled, ${left} are left`)
      }
      say(`${Math.round(tookMs)} ms`)
      return tookMs
    }
    const framed = async () => {
      const frame = await signFrame(owner, { purpose: 'history', domain: devnet.auth_domain })
      return { 'X-Service-Auth': frameHeader(frame) }
    }
    const { all, signed, single } = await interleaved(rounds, {
      single: async () => {
        const orders = await place(SINGLE[size])
        const headers = await framed()
        const times: number[] = []
        for (const { owner_address, nonce } of orders) {
          const body = { owner_address, nonce }
          times.push((await timed(postOf('/v1/orders/cancel', body, headers))).tookMs)
        }
        return median(times)
      },
      all: async () => {
        await place(count)
        return cancelAll({ owner_address: owner.address, market: SPOT.name }, await framed())
      },
      signed: async () => {
        await place(count)
        const issuedAtSec = Math.floor(Date.now() / 1_000)
        // A proof counts once, and two of one second would be the same bytes.
        proofs += 1
        const times = { issuedAtSec, expirySec: issuedAtSec + 50 - (proofs % 30) }
        return cancelAll(await signCancelAll(owner, domain, { ...times, market: SPOT.name }))
      },
    })
    return {
      rows: [
        { what: `cancel of all of ${count} orders, by a frame`, unit: 'ms', values: all },
        { what: `cancel of all of ${count} orders, signed`, unit: 'ms', values: signed },
        { what: 'cancel of one order, by a frame', unit: 'ms', values: single },
        ratio('all / one', [all, single], { atMost: 5 }),
      ],
      notes: [
        'From the request to the whole answer, which names what became of each order. Both are one command and one block of the market, each durable before it is answered. A signed cancel counts once, so that its use is made durable before. The median of the single cancels of a round counts. Nothing else is sent meanwhile.',
      ],
    }
  } finally {
    await venue.stop()
  }
}

type Place = (count: number) => Promise<OrderBody[]>

/** Places resting orders of the first account. */
function placer({ sign }: Signers, port: number): Place {
  const load = createHttpLoad(port, CONNECTIONS)
  let number = 0
  return async (count) => {
    const bodies: OrderBody[] = []
    for (let i = 0; i < count; i += 1) bodies.push(await sign(restingTerms(number++), 0))
    const requests = bodies.map((body) => postOf('/v1/orders', body))
    await saturate(load, requests, CONNECTIONS)
    load.closeIdle()
    await delay(SETTLED_MS)
    return bodies
  }
}

/** Sends one request at a time, on a connection that is open already. */
function timer(port: number) {
  const load = createHttpLoad(port, 1)
  return async (request: RequestBytes) => {
    await load.open(1)
    const startedAt = performance.now()
    const text = await load.send(request)
    const tookMs = performance.now() - startedAt
    load.closeIdle()
    return { tookMs, text }
  }
}
