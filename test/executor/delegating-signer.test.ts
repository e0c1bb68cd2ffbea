import { expect } from 'chai'
import { encodeFunctionData, numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { readAnswer, type ExecutorAnswer } from '../../actors/matcher/ask-executor.js'
import { matchingAbi } from '../../chain/abi/contracts.js'
import type { Address, Hex } from '../../core/action.js'
import { amountE18, priceE18 } from '../../core/money.js'
import { ANVIL_CHAIN_ID } from '../support/anvil.js'
import { ONE, signOrder, type SignedOrder } from '../support/devnet-actions.js'
import { openWorld, perform, testKey, type Trader, type World } from '../support/devnet-world.js'
import { eventually } from '../support/eventually.js'
import {
  executeBody,
  removeDir,
  startExecutor,
  type RunningExecutor,
} from '../support/executor-world.js'
import { matcherOrder, testMatcher } from '../support/matching.js'
import { startRpcProxy, type RpcProxy } from '../support/rpc-proxy.js'

const GWEI = 10n ** 9n
const HIGH_TIP = 50n * GWEI
const LOW_TIP = 1n
const NO_DELEGATE: Address = `0x${'0'.repeat(40)}`

/** Wallets of attackers, by what they answer to isValidSignature. */
const WALLETS = {
  no: { at: `0x${'a1'.repeat(20)}`, code: '0x60206000f3' },
  yes: { at: `0x${'a2'.repeat(20)}`, code: `0x631626ba7e60e01b60005260206000f3` },
} as const satisfies Record<string, { at: Address; code: Hex }>

type Reverted = Extract<ExecutorAnswer, { kind: 'reverted' }>

interface Move {
  readonly trader: Trader
  readonly to: Address
  readonly tip: bigint
  /** Beyond the nonce with which the authorization would take effect. */
  readonly nonceOff?: number
}

/** One attack: what the attackers send into the block of the match. */
interface Attack {
  readonly attackerIs: 'maker' | 'taker'
  readonly moves: readonly Move[]
  /** Further transactions of that block. */
  readonly calls?: readonly { from: Address; data: Hex; tip: bigint }[]
  readonly attacker?: { readonly signer: Address; readonly signedBy: Trader['account'] }
}

const NODES = ['traces', 'does not trace', 'does not answer a trace'] as const

for (const node of NODES) {
  const traces = node === 'traces'
  describe(`a key that delegates around a match, on a node that ${node}`, function () {
    let world: World
    let proxy: RpcProxy
    let executor: RunningExecutor
    const relayers = [901, 902, 903].map((no) => privateKeyToAccount(testKey(no)))
    const nonces = new Map<Address, number>()
    let keys = 0

    before(async () => {
      world = await openWorld()
      proxy = await startRpcProxy(world.anvil.rpcUrl)
      if (!traces) {
        const error = 'the method debug_traceTransaction is not available'
        const fate = node === 'does not trace' ? { error } : 'lose'
        proxy.fateOf = (method) => (method === 'debug_traceTransaction' ? fate : 'pass')
      }
      for (const { at, code } of Object.values(WALLETS)) {
        await world.client.setCode({ address: at, bytecode: code })
      }
      for (const { address } of relayers) {
        await world.client.setBalance({ address, value: 10n ** 20n })
      }
      for (const { address } of [world.alice, world.bob]) {
        nonces.set(address, await world.client.getTransactionCount({ address }))
      }
      executor = await startExecutor(world, { rpcUrl: proxy.rpcUrl })
    })
    after(async () => {
      await executor.stop()
      await removeDir(executor.dataDir)
      await proxy.stop()
      await world.anvil.stop()
    })

    /** The next nonce of a key that sends nothing itself. */
    const takeNonce = ({ address }: Trader): number => {
      const nonce = nonces.get(address) ?? 0
      nonces.set(address, nonce + 1)
      return nonce
    }

    /** Sends the authorization in a transaction of a relayer, which is mined in the order of tips. */
    async function send({ trader, to, tip, nonceOff = 0 }: Move, relayer: number): Promise<Hex> {
      const nonce =
        nonceOff === 0 ? takeNonce(trader) : (nonces.get(trader.address) ?? 0) + nonceOff
      const authorization = await trader.account.signAuthorization({
        contractAddress: to,
        chainId: ANVIL_CHAIN_ID,
        nonce,
      })
      const account = relayers[relayer]
      if (account === undefined) throw new Error('too many moves')
      return world.client.sendTransaction({
        account,
        to: account.address,
        authorizationList: [authorization],
        gas: 200_000n,
        ...(await feesOf(tip)),
      })
    }

    /** The same in a block of its own, which stands before what follows. */
    async function sendAlone(move: Move): Promise<void> {
      await world.client.waitForTransactionReceipt({ hash: await send(move, 0) })
    }

    /** The node puts the transactions with the highest fee cap first. */
    async function feesOf(tip: bigint) {
      const { baseFeePerGas } = await world.client.getBlock()
      const cap = tip === LOW_TIP ? ((baseFeePerGas ?? 0n) * 9n) / 8n : 100n * GWEI
      return { maxPriorityFeePerGas: tip, maxFeePerGas: tip + cap }
    }

    const automine = (on: boolean) =>
      world.client.request({ method: 'evm_setAutomine' as never, params: [on] as never })

    /** The match is signed and sent, the attackers' transactions join it in its block; the executor's answer. */
    async function attack({ attackerIs, moves, calls = [], attacker }: Attack) {
      const { alice, bob } = world
      keys += 1
      const mine = attacker ?? { signer: bob.address, signedBy: bob.account }
      const ofBob = { isBid: attackerIs === 'taker', desiredAmount: 1_000n * ONE }
      const bobs = await signOrder(world, bob, ofBob, mine)
      const alices = await signOrder(world, alice, { ...ofBob, isBid: !ofBob.isBid })
      const [taker, maker] = attackerIs === 'taker' ? [bobs, alices] : [alices, bobs]
      return settle({ taker, maker }, async () => {
        for (const [i, move] of moves.entries()) await send(move, i)
        for (const { from, data, tip } of calls) {
          const gas = numberToHex(200_000n)
          const { maxPriorityFeePerGas, maxFeePerGas } = await feesOf(tip)
          const fees = {
            maxPriorityFeePerGas: numberToHex(maxPriorityFeePerGas),
            maxFeePerGas: numberToHex(maxFeePerGas),
          }
          await world.client.request({
            method: 'eth_sendTransaction' as never,
            params: [{ from, to: world.at.matching, data, gas, ...fees }] as never,
          })
        }
      })
    }

    async function settle(
      { taker, maker }: { readonly taker: SignedOrder; readonly maker: SignedOrder },
      join: () => Promise<void>,
    ): Promise<ExecutorAnswer> {
      await automine(false)
      try {
        const body = executeBody({ taker, makers: [maker] })
        let isAnswered = false
        const posting = executor.post(body, `m:${keys}`).finally(() => (isAnswered = true))
        // Either the match waits for its block, or it was refused.
        await eventually(
          async () => isAnswered || (await world.client.getTxpoolStatus()).pending > 0,
        )
        await join()
        await world.client.mine({ blocks: 1 })
        await automine(true)
        const { status, body: answer } = await posting
        return readAnswer(status, answer)
      } finally {
        await automine(true)
      }
    }

    const judged = (answer: ExecutorAnswer) =>
      answer.kind === 'reverted'
        ? { revert: answer.revert, guilty: answer.guilty, code: answer.codeSigners ?? [] }
        : answer.kind

    const twice = (to: Address): Move[] => [
      { trader: world.bob, to, tip: HIGH_TIP },
      { trader: world.bob, to: NO_DELEGATE, tip: LOW_TIP },
    ]

    for (const attackerIs of ['maker', 'taker'] as const) {
      it(`is blamed as ${attackerIs}, though it is plain before and after the block (SET-021)`, async () => {
        const answer = await attack({ attackerIs, moves: twice(WALLETS.no.at) })
        expect(await world.client.getCode({ address: world.bob.address })).to.equal(undefined)
        expect(judged(answer)).to.deep.equal({
          revert: 'OV_InvalidSignature',
          guilty: attackerIs,
          code: [world.bob.address],
        })
        // A long or slow answer takes no other with it.
        expect(proxy.asked).to.include('debug_traceTransaction')
        expect(proxy.batched).to.not.include('debug_traceTransaction')
      })
    }

    it('is blamed with the other where both do it', async () => {
      const both = [world.bob, world.alice].map((trader) => ({ trader, to: WALLETS.no.at }))
      const moves = both.map((move) => ({ ...move, tip: HIGH_TIP }))
      const answer = await attack({ attackerIs: 'maker', moves })
      const { guilty, codeSigners } = answer as Reverted
      for (const trader of [world.bob, world.alice])
        await sendAlone({ trader, to: NO_DELEGATE, tip: HIGH_TIP })
      // Those who sign the taker's side first are checked first: both are refused there by themselves.
      expect(guilty).to.equal('both')
      expect(codeSigners).to.have.members([world.bob.address, world.alice.address])
    })

    it('harms no match by an authorization of another nonce, by a later one, or by one to a wallet that says yes (SET-024)', async () => {
      const { bob: trader } = world
      const off = { trader, to: WALLETS.no.at, tip: HIGH_TIP, nonceOff: 5 }
      expect(judged(await attack({ attackerIs: 'maker', moves: [off] }))).to.equal('success')
      const later = { trader, to: WALLETS.no.at, tip: LOW_TIP }
      expect(judged(await attack({ attackerIs: 'maker', moves: [later] }))).to.equal('success')
      await sendAlone({ trader, to: NO_DELEGATE, tip: HIGH_TIP })
      const moves = twice(WALLETS.yes.at)
      expect(judged(await attack({ attackerIs: 'maker', moves }))).to.equal('success')
    })

    it('is blamed in the simulation, where it delegates before and stays so', async () => {
      const { bob: trader } = world
      await sendAlone({ trader, to: WALLETS.no.at, tip: HIGH_TIP })
      const answer = await attack({ attackerIs: 'maker', moves: [] })
      await sendAlone({ trader, to: NO_DELEGATE, tip: HIGH_TIP })
      expect(judged(answer)).to.deep.equal({
        revert: 'OV_InvalidSignature',
        guilty: 'maker',
        code: [trader.address],
      })
    })

    it('is not blamed where its wallet says yes when asked, and is known to be code (SET-023)', async () => {
      const at: Address = `0x${'a3'.repeat(20)}`
      const next = (await world.client.getBlockNumber()) + 1n
      await world.client.setCode({ address: at, bytecode: liar(next) })
      const answer = await attack({ attackerIs: 'maker', moves: twice(at) })
      expect(judged(answer)).to.deep.equal({
        revert: 'OV_InvalidSignature',
        guilty: 'unclear',
        code: [world.bob.address],
      })
    })

    it('harms no match by a session key that is deregistered and registered again around it', async () => {
      const { bob, carol } = world
      const { timestamp } = await world.client.getBlock()
      const call = (functionName: 'registerSessionKey' | 'deregisterSessionKey', sec?: bigint) =>
        encodeFunctionData({
          abi: matchingAbi,
          functionName,
          args: sec === undefined ? [carol.address] : [carol.address, sec],
        })
      const registered = call('registerSessionKey', timestamp + 100_000n)
      await perform(world, { from: bob.address, to: world.at.matching, data: registered })
      const deregistered = call('deregisterSessionKey')
      const answer = await attack({
        attackerIs: 'maker',
        moves: [],
        attacker: { signer: carol.address, signedBy: carol.account },
        calls: [
          { from: bob.address, data: deregistered, tip: HIGH_TIP },
          { from: bob.address, data: registered, tip: LOW_TIP },
        ],
      })
      nonces.set(bob.address, await world.client.getTransactionCount({ address: bob.address }))
      expect(judged(answer)).to.equal('success')
    })

    it('never gets the other side cancelled, which trades with others meanwhile', async () => {
      for (const wallet of ['no', 'liar'] as const) {
        const at: Address = `0x${(wallet === 'no' ? 'a4' : 'a5').repeat(20)}`
        const market = testMatcher()
        const place = (orderId: string, side: 'buy' | 'sell', { address }: Trader, no: bigint) =>
          market.apply({
            kind: 'PlaceOrder',
            order: matcherOrder({
              orderId,
              side,
              signer: address,
              owner: address,
              subaccountId: no,
              desiredAmount: amountE18(1_000n * ONE),
              limitPrice: priceE18(650_000_000_000_000n),
            }),
          })
        place('innocent', 'sell', world.alice, 1n)
        place('hostile', 'buy', world.bob, 2n)
        for (let round = 0; round < 4; round += 1) {
          const [match] = market.state.matches.values()
          const next = (await world.client.getBlockNumber()) + 1n
          const code = wallet === 'no' ? WALLETS.no.code : liar(next)
          await world.client.setCode({ address: at, bytecode: code })
          if (match === undefined) break
          const answer = await attack({ attackerIs: 'taker', moves: twice(at) })
          if (answer.kind !== 'reverted') throw new Error(answer.kind)
          const { codeSigners = [], ...outcome } = answer
          for (const signer of codeSigners) market.apply({ kind: 'SignerCodeObserved', signer })
          const { settlementId } = match
          market.apply({ kind: 'SettlementReported', settlementId, outcome })
          const innocent = market.state.orders.get('innocent')
          expect([innocent?.gone, innocent?.hold, innocent?.refusals]).to.deep.equal([
            ...[undefined, undefined, 0],
          ])
          market.advance(130_000)
          market.apply({ kind: 'Tick' })
        }
        const { changes } = place('other', 'buy', world.carol, 3n)
        expect(changes.map(({ kind }) => kind)).to.include('OrderMatched')
        expect(market.state.orders.get('innocent')?.pending).to.equal(1_000n * ONE)
      }
    })
  })
}

/** Says no in that block and yes in every other, to any caller and at any price. */
function liar(noIn: bigint): Hex {
  const word = noIn.toString(16).padStart(8, '0')
  // (number != noIn) × magic word
  return `0x63${word}431415631626ba7e60e01b0260005260206000f3`
}
