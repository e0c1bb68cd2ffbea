import { join } from 'node:path'
import { privateKeyToAccount } from 'viem/accounts'
import { signCancelAll, type OrderBody } from '../client/index.js'
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
    const { all, single } = await interleaved(rounds, {
      single: async () => {
        const times: number[] = []
        for (const { owner_address, nonce } of await place(SINGLE[size])) {
          const { tookMs } = await timed(postOf('/v1/orders/cancel', { owner_address, nonce }))
          times.push(tookMs)
        }
        return median(times)
      },
      all: async () => {
        await place(count)
        const issuedAtSec = Math.floor(Date.now() / 1_000)
        // A proof counts once, and two of one second would be the same bytes.
        proofs += 1
        const times = { issuedAtSec, expirySec: issuedAtSec + 50 - (proofs % 30) }
        const body = await signCancelAll(owner, domain, { ...times, market: SPOT.name })
        const { tookMs, text } = await timed(postOf('/v1/orders/cancel-all', body))
        const { orders, left } = JSON.parse(text) as CancelsAnswer
        if (orders.length < count || left !== 0) {
          throw new Error(`${orders.length} of ${count} orders were cancelled, ${left} are left`)
        }
        say(`${Math.round(tookMs)} ms`)
        return tookMs
      },
    })
    return {
      rows: [
        { what: `cancel of all of ${count} orders`, unit: 'ms', values: all },
        { what: 'cancel of one order', unit: 'ms', values: single },
        ratio('all / one', [all, single], { atMost: 5 }),
      ],
      notes: [
        'From the request to the whole answer, which names what became of each order. Both are one command and one block of the market, each durable before it is answered. The median of the single cancels of a round counts. Nothing else is sent meanwhile.',
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
