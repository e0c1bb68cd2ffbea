import { expect } from 'chai'
import { createTestClient, http, publicActions, walletActions, type Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { base } from 'viem/chains'
import { createRestClient, type OrderRecord } from '../../client/index.js'
import type { Address } from '../../core/action.js'
import { roleAccounts } from '../../devnet/chain/accounts.js'
import { createTrader, type OrderWish, type Trader } from '../e2e/stage/trader.js'
import type { AnvilClient } from '../support/anvil.js'
import { eventually } from '../support/eventually.js'
import { startVenue, type TestVenue } from '../support/venue.js'

const GWEI = 10n ** 9n
const NO_DELEGATE: Address = `0x${'0'.repeat(40)}`
const BLOCK_TIME_SEC = 1
const TERMS = { price: '0.0020', amount: '2' } as const

/** What the attacker's key delegates to, and why its order waits then. */
const WALLETS = [
  { answers: 'no', code: (): Hex => '0x60206000f3', waits: 'settlement_refused' },
  // Asked afterwards it says yes: no proof, but the other key was plain, so that the window of this one is closed.
  { answers: 'yes but in that block', code: saysNoIn, waits: 'signer_waits' },
] as const

/** Says no in that block and yes in every other, to any caller and at any price. */
function saysNoIn(block: bigint): Hex {
  const word = block.toString(16).padStart(8, '0')
  // (number != block) × magic word
  return `0x63${word}431415631626ba7e60e01b0260005260206000f3`
}

/** In one block: the attacker's key delegates, the venue’s match fails, and the key is plain again. */
describe('a key that delegates around its match', function () {
  const relayers = [generatePrivateKey(), generatePrivateKey()].map((key) =>
    privateKeyToAccount(key),
  )
  let venue: TestVenue
  let chain: AnvilClient
  let executor: Address
  let innocent: Trader
  let attacker: Trader
  let other: Trader

  before(async () => {
    venue = await startVenue({ blockTime: BLOCK_TIME_SEC })
    innocent = createTrader(venue.devnet, 0)
    attacker = createTrader(venue.devnet, 1)
    other = createTrader(venue.devnet, 2)
    executor = (await roleAccounts(venue.dataDir)).executor.address
    const transport = http(venue.devnet.rpc_url)
    chain = createTestClient({ mode: 'anvil', chain: base, transport, cacheTime: 0 })
      .extend(publicActions)
      .extend(walletActions)
    for (const { address } of relayers) await chain.setBalance({ address, value: 10n ** 20n })
  })
  after(() => venue?.stop())

  const record = (orderId: string): Promise<OrderRecord> =>
    createRestClient(venue.gatewayUrl).order(orderId)

  async function explain(orderId: string) {
    const answer = await fetch(`${venue.gatewayUrl}/v1/orders/${orderId}/explain`)
    return (await answer.json()) as { code: string; life: { code: string }[] }
  }

  async function until(orderId: string, code: string): Promise<void> {
    await eventually(async () => expect((await explain(orderId)).code).to.equal(code))
  }

  /** The attacker sends the order, and sees to it that its match is between the two authorizations. */
  async function sweep(wish: OrderWish, code: (block: bigint) => Hex): Promise<OrderRecord> {
    await chain.setIntervalMining({ interval: 0 })
    try {
      const sentBefore = await chain.getTransactionCount({ address: executor })
      const order = await attacker.place(wish)
      const pending = { address: executor, blockTag: 'pending' } as const
      await eventually(async () => (await chain.getTransactionCount(pending)) > sentBefore)
      const wallet: Address = `0x${generatePrivateKey().slice(-40)}`
      const block = (await chain.getBlockNumber()) + 1n
      await chain.setCode({ address: wallet, bytecode: code(block) })
      await authorize([wallet, NO_DELEGATE])
      await chain.mine({ blocks: 1 })
      const { transactions } = await chain.getBlock({ includeTransactions: true })
      const senders = [relayers[0]?.address, executor, relayers[1]?.address]
      expect(transactions.map(({ from }) => from.toLowerCase())).to.deep.equal(
        senders.map((address) => address?.toLowerCase()),
      )
      return order
    } finally {
      await chain.setIntervalMining({ interval: BLOCK_TIME_SEC })
    }
  }

  /** The first goes before the executor's transaction in its block, the second behind it. */
  async function authorize(delegates: readonly Address[]): Promise<void> {
    const { baseFeePerGas } = await chain.getBlock()
    const key = privateKeyToAccount(venue.devnet.accounts[1]?.private_key as Hex)
    const nonce = await chain.getTransactionCount({ address: key.address })
    for (const [i, contractAddress] of delegates.entries()) {
      const authorization = await key.signAuthorization({
        contractAddress,
        chainId: venue.devnet.chain_id,
        nonce: nonce + i,
      })
      const account = relayers[i] as (typeof relayers)[number]
      const tip = i === 0 ? 1_000n * GWEI : 1n
      await chain.sendTransaction({
        account,
        to: account.address,
        authorizationList: [authorization],
        gas: 200_000n,
        maxPriorityFeePerGas: tip,
        maxFeePerGas: tip + ((baseFeePerGas ?? 0n) * 9n) / 8n,
      })
    }
  }

  for (const { answers, code, waits } of WALLETS) {
    it(`has only its own order wait, where its wallet says ${answers}`, async () => {
      const ask = await innocent.place({ side: 'sell', ...TERMS })
      const hostile = await sweep({ side: 'buy', ...TERMS }, code)
      await until(hostile.order_id, waits)
      expect(await record(ask.order_id)).to.include({ status: 'active', filled_amount: '0' })

      const taken = await other.place({ side: 'buy', ...TERMS })
      await other.until(taken.order_id, 'filled')
      await innocent.until(ask.order_id, 'filled')
      const { life } = await explain(ask.order_id)
      expect(life.map((line) => line.code)).to.deep.equal(['placed', 'match_refused', 'filled'])
      expect(await attacker.cancel(hostile)).to.include({ filled_amount: '0' })
    })
  }
})
