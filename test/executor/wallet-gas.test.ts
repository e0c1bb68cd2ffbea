import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { matchingAbi } from '../../chain/abi/contracts.js'
import { readBatchLogs } from '../../chain/contracts/simulate.js'
import { readSenderHead } from '../../chain/reads/blocks.js'
import { createChainClient } from '../../chain/reads/client.js'
import type { Hex } from '../../core/action.js'
import { packBatches } from '../../executor/pack-matches.js'
import type { MatchPacker, SettlementTerms } from '../../executor/settlement.js'
import { matchCall, ONE, signOrder, type ActionOverrides } from '../support/devnet-actions.js'
import {
  openWorld,
  perform,
  receiptOf,
  send,
  testKey,
  type Trader,
  type World,
} from '../support/devnet-world.js'
import { e18, keepPricesFresh, openPerpAccount } from '../support/perp-world.js'
import { compileWallets, delegate, deployWallet } from '../support/test-wallets.js'

const KEY = testKey(77)
const DELEGATING = testKey(2)
/** So that the simulation of the last has warm storage in front of it. */
const MATCHES_AHEAD = 20

/** How a wallet signs for an order of Bob. */
interface Wallet {
  readonly name: string
  readonly open: (world: World) => Promise<ActionOverrides>
}

const WALLETS: readonly Wallet[] = [
  {
    name: 'a contract that a key speaks for, as session key',
    async open(world) {
      const key = privateKeyToAccount(KEY)
      const { KeyWallet } = await compileWallets()
      const signer = await deployWallet(world.client, KeyWallet, key.address)
      const args = [signer, 4_000_000_000n] as const
      const data = encodeFunctionData({
        abi: matchingAbi,
        functionName: 'registerSessionKey',
        args,
      })
      await perform(world, { from: world.bob.address, to: world.at.matching, data })
      return { signer, signedBy: key }
    },
  },
  {
    name: 'a key that delegates',
    async open({ client }) {
      const { SelfKeyWallet } = await compileWallets()
      await delegate(client, DELEGATING, await deployWallet(client, SelfKeyWallet))
      return {}
    },
  },
]

/**
 * What honest wallets need, with the real contracts: by it the limit of a match that code has signed is chosen. It prints what
 * it measures.
 */
describe('the gas limit of a match that a wallet has signed', function () {
  let world: World
  let packer: MatchPacker
  let traders: Record<'spot' | 'perp', readonly [taker: Trader, maker: Trader]>

  before(async () => {
    world = await openWorld()
    await keepPricesFresh(world)
    packer = packBatches({
      client: createChainClient(world.anvil.rpcUrl, 'read'),
      batchExecutor: world.at.batch_executor,
      sender: world.executor,
    })
    const funds = { cash: 1_000_000, cngn: 1_000 }
    traders = {
      spot: [world.alice, world.bob],
      perp: [
        await openPerpAccount(world, world.alice, funds),
        await openPerpAccount(world, world.bob, funds),
      ],
    }
  })
  after(() => world.anvil.stop())

  async function match(kind: 'spot' | 'perp', maker: ActionOverrides = {}): Promise<Hex> {
    const [buyer, seller] = traders[kind]
    const { at } = world
    const asset = kind === 'spot' ? at.wrapped_cngn : at.perp_asset
    const module = kind === 'spot' ? at.spot_trade_module : at.perp_trade_module
    const terms = { asset, limitPrice: e18('0.00065'), desiredAmount: 100n * ONE, worstFee: ONE }
    const order = (trader: Trader, isBid: boolean, by: ActionOverrides) =>
      signOrder(world, trader, { ...terms, isBid }, { module, ...trader, ...by })
    const taker = await order(buyer, true, {})
    const fills = [{ maker: await order(seller, false, maker) }]
    return matchCall(world, { taker, fills, takerFee: 1_000n }).data
  }

  const termsOf = (call: Hex): SettlementTerms => ({ call, accountIds: [], match: undefined })

  async function gasOf(calls: readonly Hex[]): Promise<bigint> {
    const head = await readSenderHead(world.client as never, world.executor)
    const { verdicts } = await packer.simulate(head, calls.map(termsOf), [])
    const last = verdicts.at(-1)
    if (last?.kind !== 'passes') throw new Error(`does not pass: ${JSON.stringify(last?.kind)}`)
    return last.gas
  }

  /** Mines the call with the limit that it gets after this simulation. */
  async function mine(call: Hex, alone: bigint) {
    const code = { alone }
    const packed = packer.pack([{ match: termsOf(call), gas: alone, code }])
    const { to, data, gasLimit } = packed
    const { logs } = await receiptOf(
      world,
      await send(world, { from: world.executor, to, data }, gasLimit),
    )
    const [outcome] = readBatchLogs(logs, world.at.batch_executor)
    return outcome?.kind === 'success' ? outcome.gasUsed : outcome
  }

  for (const kind of ['spot', 'perp'] as const) {
    for (const { name, open } of WALLETS) {
      it(`is enough on ${kind} for ${name}, on first access to all storage and after it changed`, async () => {
        const by = await open(world)
        for (const storage of ['first of its accounts', 'later']) {
          const call = await match(kind, by)
          const ahead: Hex[] = []
          for (let i = 0; i < MATCHES_AHEAD; i += 1) ahead.push(await match(kind))
          const alone = await gasOf([call])
          const behind = await gasOf([...ahead, call])
          process.stdout.write(
            `      ${kind}, ${storage}: ${alone} gas alone, ${behind} behind ${MATCHES_AHEAD} others\n`,
          )
          expect(behind).to.satisfy((gas: bigint) => gas < (alone * 3n) / 4n)
          // Another match of the accounts comes between the simulation and the block.
          await mine(await match(kind), alone)
          expect(await mine(call, alone)).to.be.a('bigint')
        }
      })
    }
  }
})
