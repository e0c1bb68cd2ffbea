import { expect } from 'chai'
import { encodeFunctionData, maxUint256 } from 'viem'
import { openChainSource } from '../../../actors/chain-reader/chain-source.js'
import { startChainReader } from '../../../actors/chain-reader/start.js'
import { startMatcher, type Matcher } from '../../../actors/matcher/matcher.js'
import { observeMatcher } from '../../../actors/matcher/observe.js'
import { decodeBlock } from '../../../bus-schemas/blocks.js'
import { decodePingAnswer } from '../../../bus-schemas/operations.js'
import { decodeTouched } from '../../../bus-schemas/reports.js'
import {
  askPing,
  commandsStream,
  commandsSubject,
  feedStream,
  tellTouched,
} from '../../../bus-schemas/subjects.js'
import { erc20Abi, matchingAbi } from '../../../chain/abi/contracts.js'
import type { Hex } from '../../../core/action.js'
import type { Change } from '../../../core/model/change.js'
import type { Command } from '../../../core/model/command.js'
import { amountE18, E18, priceE18 } from '../../../core/money.js'
import type { TouchedNews } from '../../../core/touched-blocks.js'
import type { Bus } from '../../../runtime/bus/bus.js'
import { connectNatsBus } from '../../../runtime/bus/nats-bus.js'
import type { RunningProcess } from '../../../runtime/process/process.js'
import { aMarket } from '../../support/builders.js'
import { addressOf } from '../../support/cancel-proofs.js'
import { actionsCall, depositCall, signWithdrawal } from '../../support/devnet-actions.js'
import { openWorld, perform, type World } from '../../support/devnet-world.js'
import { eventually } from '../../support/eventually.js'
import { silentLog } from '../../support/intake-stage.js'
import { matcherOrder } from '../../support/matching.js'
import { startNatsServer, type TestNatsServer } from '../../support/nats-server.js'
import { startRpcProxy, type RpcProxy } from '../../support/rpc-proxy.js'
import { delegate } from '../../support/test-wallets.js'
import { decodeCommands, encodeCommands } from '../../support/spot-log.js'

/** 1,000,000 USDC in the token's own units: what each account holds. */
const ALL_USDC = 1_000_000_000_000n

describe('the chain reader on a bus and a chain', function () {
  let world: World
  let server: TestNatsServer
  let proxy: RpcProxy
  let bus: Bus
  let matcher: Matcher
  let reader: RunningProcess
  let snapshot: Hex
  let sourceNo = 0
  const fatal: unknown[] = []

  const market = () =>
    aMarket({
      assetAddress: world.at.wrapped_cngn,
      quoteAssetAddress: world.at.wrapped_usdc,
      tradeModuleAddress: world.at.spot_trade_module,
    })
  const startReader = () => {
    const markets = [market()]
    const deployment = { matching: world.at.matching, subAccounts: world.at.sub_accounts }
    return startChainReader({
      bus,
      markets,
      nowMs: Date.now,
      log: silentLog,
      pollMs: 20,
      ...openChainSource({ rpcUrl: proxy.rpcUrl, deployment, markets }),
      onFatal: (error) => fatal.push(error),
    })
  }

  before(async () => {
    world = await openWorld()
    server = await startNatsServer()
    proxy = await startRpcProxy(world.anvil.rpcUrl)
    bus = await connectNatsBus({ url: server.url, name: 'chain-reader' })
    matcher = await startMatcher({
      bus,
      market: market(),
      facts: observeMatcher(silentLog),
      nowMs: Date.now,
      tickMs: 1_000,
      ask: () =>
        Promise.resolve({
          kind: 'malformed',
          why: 'nothing is to be settled here',
          guilty: 'both',
        }),
      onFatal: (error) => fatal.push(error),
    })
    for (const token of [world.at.usdc]) {
      const args = [world.at.deposit_module, maxUint256] as const
      const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
      await perform(world, { from: world.bob.address, to: token, data })
    }
    reader = await startReader()
    await append({
      kind: 'PlaceOrder',
      order: matcherOrder({
        orderId: 'b1',
        side: 'buy',
        market: market().market,
        goodUntilSec: 4_000_000_000,
        owner: world.bob.address,
        subaccountId: world.bob.subaccountId,
        desiredAmount: amountE18(1_000_000n * E18),
        limitPrice: priceE18(E18 / 2n),
      }),
    })
    await untilLast({ kind: 'OrderPlaced', status: 'active' })
    await untilObserved(1)
  })
  beforeEach(async () => {
    snapshot = await world.client.snapshot()
  })
  after(async () => {
    await reader?.stop()
    await matcher?.stop()
    await bus?.close()
    await server?.stop()
    await proxy?.stop()
    await world?.anvil.stop()
    expect(fatal).to.deep.equal([])
  })

  function append(command: Command) {
    sourceNo += 1
    const logged = { source: 'intake', sourceNo, atMs: Date.now(), command }
    return bus.append(commandsSubject(market().market), encodeCommands([logged]))
  }
  async function feed(): Promise<Change[]> {
    const messages = await bus.read(feedStream(market().market), 1, 1_000)
    return messages.flatMap(({ data }) => [...decodeBlock(data).changes])
  }
  async function observations() {
    const messages = await bus.read(commandsStream(market().market), 1, 10_000)
    return messages
      .flatMap(({ data }) => decodeCommands(data))
      .filter(({ source }) => source === 'chain-reader')
  }
  const untilLast = (fields: Partial<Change> & { readonly hold?: string }) =>
    eventually(async () => expect((await feed()).at(-1)).to.include(fields))
  const untilObserved = (count: number) =>
    eventually(async () => expect((await observations()).length).to.be.at.least(count))
  const standing = async () =>
    decodePingAnswer(await bus.ask(askPing('chain-reader'), new Uint8Array(), 1_000))

  async function withdraw(): Promise<void> {
    const wanted = { asset: world.at.wrapped_usdc, assetAmount: ALL_USDC }
    const signed = await signWithdrawal(world, world.bob, wanted)
    await perform(world, actionsCall(world, [signed]))
  }
  async function deposit(): Promise<void> {
    const wanted = { asset: world.at.wrapped_usdc, amount: ALL_USDC }
    const overrides = { subaccountId: world.bob.subaccountId }
    await perform(world, await depositCall(world, world.bob, wanted, overrides))
  }

  it('hides an order when its funds are withdrawn on chain, and shows it when they are back', async () => {
    await withdraw()
    await untilLast({ kind: 'OrderHeld', hold: 'insufficient_balance', open: amountE18(0n) })
    await deposit()
    await untilLast({ kind: 'OrderReleased', open: amountE18(1_000_000n * E18) })
    expect(await standing()).to.include({ ready: true, detail: 'following accounts' })
  })

  it('follows the chain when it goes another way', async () => {
    await withdraw()
    await untilLast({ kind: 'OrderHeld', hold: 'insufficient_balance' })
    await world.client.revert({ id: snapshot })
    await world.client.mine({ blocks: 1, interval: 7 })
    await untilLast({ kind: 'OrderReleased', status: 'active' })
    const numbers = (await observations()).flatMap(({ command }) =>
      command.kind === 'AccountObserved' ? [command.account.blockNumber] : [],
    )
    const [before, after] = numbers.slice(-2)
    expect(after !== undefined && before !== undefined && after <= before).to.equal(true)
  })

  it('finds out what happened while the node was away', async () => {
    const asked = proxy.asked.length
    proxy.fateOf = () => 'lose'
    await withdraw()
    await eventually(() => proxy.asked.length > asked + 3)
    proxy.fateOf = () => 'pass'
    await untilLast({ kind: 'OrderHeld', hold: 'insufficient_balance' })
    await deposit()
    await untilLast({ kind: 'OrderReleased' })
  })

  it('says everything again when it starts again, and the feed hears nothing of it', async () => {
    const told = (await feed()).length
    const said = (await observations()).length
    await reader.stop()
    reader = await startReader()
    await untilObserved(said + 1)
    const numbers = (await observations()).map((logged) => logged.sourceNo)
    expect(numbers).to.deep.equal([...numbers].sort((a, b) => a - b))
    await append({ kind: 'Tick' })
    const { lastSeq } = await bus.streamState(commandsStream(market().market))
    await eventually(() => matcher.positions().command_seq >= lastSeq)
    expect((await feed()).length).to.equal(told)
  })

  it('tells the order intake of a key that has delegated to code', async () => {
    const told: TouchedNews[] = []
    const listening = await bus.answer(tellTouched, 'order-intake', (data, replyTo) => {
      told.push(decodeTouched(data))
      bus.reply(replyTo, new Uint8Array())
    })
    const privateKey: Hex = `0x${'07'.repeat(32)}`
    await delegate(world.client, privateKey, `0x${'cc'.repeat(20)}`)
    const key = addressOf(privateKey)
    await eventually(() => told.some(({ keys }) => keys?.includes(key) === true))
    await listening.stop()
  })

  it('takes an order out of the market when its account is about to leave', async () => {
    const data = encodeFunctionData({
      abi: matchingAbi,
      functionName: 'requestWithdrawAccount',
      args: [world.bob.subaccountId],
    })
    await perform(world, { from: world.bob.address, to: world.at.matching, data })
    await untilLast({ kind: 'OrderHeld', hold: 'not_in_custody' })
  })
})
