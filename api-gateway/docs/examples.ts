import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import { signedExample } from '../../chain/signing/example-order.js'
import { keyText } from '../../chain/signing/key-file.js'
import type { DocsExamples } from '../../interface/signing.js'
import type { GatewayDeps } from '../context.js'

type ExampleSources = Pick<GatewayDeps, 'markets' | 'deployment' | 'auth' | 'nowMs' | 'devnetFile'>

const HOUR_SEC = 3_600

/** Examples of the listed markets; signed ones where `devnet.json` describes this very venue. */
export async function docsExamples(parts: ExampleSources): Promise<DocsExamples> {
  const { deployment, auth, nowMs } = parts
  const listed = parts.markets.filter(({ enabled }) => enabled)
  // The market that the spot accounts of a devnet trade.
  const spot = listed.find(({ assetAddress }) => assetAddress === deployment.wrappedCngn)
  const named = (spot ?? listed[0])?.market
  const parameters = named === undefined ? {} : { symbol: named, ticker_id: named }
  const account = await devnetAccount(parts)
  if (spot === undefined || account === undefined) return { parameters, bodies: {} }
  const nowSec = Math.floor(nowMs() / 1_000)
  const signing = { deployment, words: auth.words, market: spot, nowSec, validSec: HOUR_SEC }
  const { order, frame } = await signedExample({ ...signing, account })
  const { order_id, owner_address, nonce } = order
  return {
    parameters: {
      ...parameters,
      order_id,
      subaccount_id: account.subaccountId,
      owner: owner_address,
      [auth.header]: frame,
    },
    bodies: {
      '/v1/orders': order,
      '/v1/orders/validate': order,
      '/v1/orders/batch': { orders: [order] },
      '/v1/orders/cancel': { owner_address, nonce },
      '/v1/orders/reduce': { owner_address, nonce, desired_amount: '5000' },
      '/v1/orders/cancel-all': { owner_address, market: spot.market },
      '/v1/orders/cancel-list': { owner_address, order_ids: [order_id] },
      '/v1/orders/cancel-all-after': { owner_address, seconds: 60 },
    },
  }
}

/** What is read of `devnet.json`; its keys are those of every development chain. */
const devnet = z.object({
  chain_id: z.int(),
  matching: z.string(),
  accounts: z
    .array(
      z.object({
        private_key: keyText,
        spot_subaccount_id: z.string().regex(/^\d+$/),
      }),
    )
    .min(1),
})

/** The first account of the devnet; undefined where there is no such file, or one of another venue. */
async function devnetAccount({ devnetFile, deployment }: ExampleSources) {
  if (devnetFile === undefined) return undefined
  let text: string
  try {
    text = await readFile(devnetFile, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
  const { data } = devnet.safeParse(JSON.parse(text))
  const isThisOne =
    data?.chain_id === deployment.chainId && data.matching.toLowerCase() === deployment.matching
  const [account] = data?.accounts ?? []
  if (!isThisOne || account === undefined) return undefined
  return { privateKey: account.private_key, subaccountId: account.spot_subaccount_id }
}
