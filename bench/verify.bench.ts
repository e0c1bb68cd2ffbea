import { recoverTypedDataAddress } from 'viem'
import {
  createSignatureVerifier,
  type SignatureVerifier,
} from '../chain/signing/verify-signature.js'
import type { OrderBody } from '../client/index.js'
import { signingDomain } from '../client/sign-order.js'
import type { Address, Hex } from '../core/action.js'
import { readAction } from '../core/entry/read-action.js'
import { judgeOrder, readSubmittedOrder } from '../core/entry/validate-order.js'
import { BENCH_DOMAIN, benchMarket } from './bench-market.js'
import type { Bench, BenchContext, Report } from './bench.js'
import { interleaved, ratio, took } from './rounds.js'
import { signedOrders, type SignedBody } from './signed-orders.js'

type Signed = Pick<OrderBody, 'action_json'> & { readonly signature: Hex }
/** Accepts or refuses a signed action in wire form. */
type Verify = (signed: Signed) => Promise<boolean>

export const verify: Bench = {
  name: 'verify',
  title:
    'A signed order from its wire form until it is accepted, compared with `recoverTypedDataAddress` of viem and a check of its result.',
  versionsOf: ['viem', 'secp256k1', 'hash-wasm'],
  run,
}

const DISTINCT = { tiny: 4, usual: 64, full: 64 }
/** Passes over all orders in one round; more for the fast variants, so that rounds take equal time. */
const PASSES = {
  tiny: { venue: 1, viem: 1 },
  usual: { venue: 60, viem: 3 },
  full: { venue: 120, viem: 6 },
}

async function run({ size, rounds }: BenchContext): Promise<Report> {
  const orders = await signedOrders(DISTINCT[size])
  const venue = venueVerify(aVerifier())
  await assertSameAnswers(orders, venue)

  const passes = PASSES[size]
  const values = await interleaved(rounds, {
    venue: () => usPerCall(orders, passes.venue, venue),
    viem: () => usPerCall(orders, passes.viem, viemVerify),
    whole: () => usPerCall(orders, passes.venue, wholeCheck()),
  })
  return {
    rows: [
      { what: 'venue: action and signature', unit: 'µs', values: values.venue },
      { what: 'viem', unit: 'µs', values: values.viem },
      ratio('viem / venue', [values.viem, values.venue], { atLeast: 32 }),
      { what: 'venue: every check of a body', unit: 'µs', values: values.whole },
      ratio('viem / every check of a body', [values.viem, values.whole]),
    ],
    notes: [
      'Processor time of the process. Both accept all the orders and refuse the same forgeries; the venue also refuses what the chain refuses: the upper half of s, a v other than 27 and 28, the compact form. "Every check" adds the checks of the fields, the grid, the signed data against the terms, and the identity, which viem does not do.',
    ],
  }
}

async function usPerCall(orders: readonly SignedBody[], passes: number, check: Verify) {
  const { cpuMs } = await took(async () => {
    for (let pass = 0; pass < passes; pass += 1) {
      for (const order of orders) {
        if (!(await check(order))) throw new Error(`${order.order_id} is refused`)
      }
    }
  })
  return (cpuMs * 1000) / (passes * orders.length)
}

function aVerifier(): SignatureVerifier {
  return createSignatureVerifier({
    domain: BENCH_DOMAIN,
    readCode: () => Promise.resolve({ hasCode: false }),
    callIsValidSignature: () => Promise.resolve(false),
  })
}

function venueVerify(verifier: SignatureVerifier): Verify {
  return async ({ action_json, signature }) => {
    const read = readAction(action_json)
    if ('refusal' in read) return false
    return (await verifier.verify(read.action, signature)).kind === 'valid'
  }
}

/** The intake's work on a body, without the queries of its registry and of the chain. */
function wholeCheck(): Verify {
  const verifier = aVerifier()
  const context = { markets: [benchMarket()], nowMs: Date.now() }
  return async (body) => {
    const submitted = readSubmittedOrder(body)
    if ('refusal' in submitted) return false
    const valid = judgeOrder(submitted, context)
    if ('refusal' in valid) return false
    return (await verifier.verify(valid.action, valid.order.signature)).kind === 'valid'
  }
}

const types = {
  Action: [
    { name: 'subaccountId', type: 'uint256' },
    { name: 'nonce', type: 'uint256' },
    { name: 'module', type: 'address' },
    { name: 'data', type: 'bytes' },
    { name: 'expiry', type: 'uint256' },
    { name: 'owner', type: 'address' },
    { name: 'signer', type: 'address' },
  ],
} as const
const domain = signingDomain({
  chainId: BENCH_DOMAIN.chainId,
  matching: BENCH_DOMAIN.verifyingContract,
})

const viemVerify: Verify = async ({ action_json: json, signature }) => {
  const message = {
    subaccountId: BigInt(json.subaccount_id),
    nonce: BigInt(json.nonce),
    module: json.module as Address,
    data: json.data as Hex,
    expiry: BigInt(json.expiry),
    owner: json.owner as Address,
    signer: json.signer as Address,
  }
  const typed = { domain, types, primaryType: 'Action', message, signature } as const
  const recovered = await recoverTypedDataAddress(typed)
  return recovered.toLowerCase() === json.signer.toLowerCase()
}

/** Check before the measurement: both accept the valid orders and refuse the forged ones. */
async function assertSameAnswers(orders: readonly SignedBody[], venue: Verify): Promise<void> {
  for (const [index, order] of orders.entries()) {
    const other = orders[(index + 1) % orders.length] ?? order
    for (const signed of [order, ...forgeries(order, other)]) {
      const viem = await viemVerify(signed).catch(() => false)
      if ((await venue(signed)) !== viem) throw new Error(`${order.order_id} divides the two`)
    }
    for (const signed of looser(order)) {
      if (await venue(signed)) throw new Error(`${order.order_id} is accepted in a loose form`)
    }
  }
}

function forgeries(order: SignedBody, other: SignedBody): Signed[] {
  const { action_json: json, signature } = order
  return [
    { action_json: json, signature: other.signature },
    { action_json: { ...json, nonce: '1' }, signature },
    { action_json: { ...json, data: `${json.data.slice(0, -1)}2` }, signature },
    { action_json: { ...json, signer: other.signer_address }, signature },
    { action_json: json, signature: `0x${'00'.repeat(65)}` },
    { action_json: json, signature: '0x' },
  ]
}

const ORDER_OF_CURVE = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n

/** Forms of a valid signature that viem accepts and the chain does not. */
function looser({ action_json, signature }: SignedBody): Signed[] {
  const r = signature.slice(2, 66)
  const s = signature.slice(66, 130)
  const v = signature.slice(130)
  const high = (ORDER_OF_CURVE - BigInt(`0x${s}`)).toString(16).padStart(64, '0')
  const isOdd = v === '1c'
  return [
    { action_json, signature: `0x${r}${high}${isOdd ? '1b' : '1c'}` },
    { action_json, signature: `0x${r}${s}${isOdd ? '01' : '00'}` },
  ]
}
