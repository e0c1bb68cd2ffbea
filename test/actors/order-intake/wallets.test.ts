import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount, sign } from 'viem/accounts'
import { encodeTouched } from '../../../bus-schemas/reports.js'
import { tellTouched } from '../../../bus-schemas/subjects.js'
import { createHeadReader } from '../../../chain/reads/blocks.js'
import { createChainClient, createCircuitBreaker } from '../../../chain/reads/client.js'
import {
  createSignatureReads,
  createSignatureVerifier,
  type SignatureVerifier,
} from '../../../chain/signing/verify-signature.js'
import type { Address, Hex } from '../../../core/action.js'
import { readAction } from '../../../core/entry/read-action.js'
import { createTouchedIds, type TouchedNews } from '../../../core/touched-blocks.js'
import { createMemoryBus, type MemoryBus } from '../../../runtime/bus/memory-bus.js'
import type { Running } from '../../../runtime/process/process.js'
import { ANVIL_KEY, startAnvil, type Anvil } from '../../support/anvil.js'
import { testDomain, testPrivateKey } from '../../support/builders.js'
import { addressOf } from '../../support/cancel-proofs.js'
import { eventually } from '../../support/eventually.js'
import { startFakeMatcher, type FakeMatcher } from '../../support/fake-matcher.js'
import { anIntakeStage, ask, signedBody, type IntakeStage } from '../../support/intake-stage.js'
import {
  compileWallets,
  delegate,
  deployWallet,
  type WalletName,
} from '../../support/test-wallets.js'

const REFUSED = 'signature does not authorize this action'
const keyAddress = addressOf(testPrivateKey)

describe('orders of wallet contracts on a chain', function () {
  let anvil: Anvil
  let wallets: Awaited<ReturnType<typeof compileWallets>>
  let stage: IntakeStage
  let bus: MemoryBus
  let matcher: FakeMatcher
  let intake: Running
  let verifier: SignatureVerifier

  before(async () => {
    ;[anvil, wallets] = await Promise.all([startAnvil(), compileWallets()])
  })
  after(() => anvil.stop())

  beforeEach(async () => {
    stage = anIntakeStage()
    bus = createMemoryBus()
    const reads = createSignatureReads({
      judge: createChainClient(anvil.rpcUrl, 'judge'),
      probe: createChainClient(anvil.rpcUrl, 'probe'),
      breaker: createCircuitBreaker(),
      readHead: createHeadReader(createChainClient(anvil.rpcUrl, 'probe')),
    })
    const touched = createTouchedIds(() => performance.now())
    verifier = createSignatureVerifier({
      ...{ domain: testDomain, codeCacheMs: 0, touched: touched.keys },
      ...reads,
    })
    intake = await stage.start(bus, { verifier, touched })
    matcher = await startFakeMatcher(bus, stage.market.market)
  })
  afterEach(async () => {
    await intake.stop()
    await matcher.stop()
    stage.close()
  })

  /** The verdict on an order that the wallet owns and signs for itself, by the hand of the key. */
  const place = async (wallet: Address, privateKey: Hex = testPrivateKey): Promise<string> => {
    let verdict = ''
    // A busy node may answer too late for one order.
    await eventually(async () => (verdict = await placeOnce(wallet, privateKey)) !== 'unchecked')
    return verdict
  }
  const placeOnce = async (wallet: Address, privateKey: Hex): Promise<string> => {
    stage.chain.owner = wallet
    const body = await signedBody({ owner: wallet })
    const action_json = { ...(body.action_json as object), signer: wallet }
    const read = readAction(action_json)
    if ('refusal' in read) throw new Error(read.refusal.message)
    const hash = verifier.digest(read.action)
    const signature = await sign({ hash, privateKey, to: 'hex' })
    const answer = await ask(bus, 'place', {
      ...body,
      signer_address: wallet,
      action_json,
      signature,
    })
    return answer.kind === 'order' ? answer.order.signatureStatus : answer.refusal.message
  }

  it('takes what the wallet accepts, until it does not any more', async () => {
    const wallet = await deployWallet(anvil.client, wallets.KeyWallet, keyAddress)
    expect(await place(wallet)).to.equal('checked')
    expect(await place(wallet, `0x${'02'.repeat(32)}`)).to.equal(REFUSED)
    const data = encodeFunctionData({ abi: wallets.KeyWallet.abi, functionName: 'lock' })
    const account = privateKeyToAccount(ANVIL_KEY)
    const hash = await anvil.client.sendTransaction({ account, to: wallet, data })
    await anvil.client.waitForTransactionReceipt({ hash })
    expect(await place(wallet)).to.equal(REFUSED)
  })

  const unwilling: readonly [WalletName, string][] = [
    ['DeafWallet', 'has no such method'],
    ['RevertingWallet', 'reverts'],
    ['JunkWallet', 'answers junk'],
    ['ShoutingWallet', 'answers more than is read'],
    ['BurningWallet', 'burns all its gas'],
  ]
  for (const [name, what] of unwilling) {
    it(`refuses the order of a wallet that ${what}`, async () => {
      const wallet = await deployWallet(anvil.client, wallets[name])
      expect(await place(wallet)).to.equal(REFUSED)
    })
  }

  it('asks the delegate of a plain key, once it has one', async () => {
    const privateKey: Hex = `0x${'07'.repeat(32)}`
    const address = addressOf(privateKey)
    expect(await place(address, privateKey)).to.equal('checked')
    const deaf = await deployWallet(anvil.client, wallets.DeafWallet)
    await delegate(anvil.client, privateKey, deaf)
    await eventually(async () => (await verifier.hasCode(address)) === true)
    expect(await place(address, privateKey)).to.equal(REFUSED)
    const self = await deployWallet(anvil.client, wallets.SelfKeyWallet)
    await delegate(anvil.client, privateKey, self)
    expect(await place(address, privateKey)).to.equal('checked')
    expect(await place(address, testPrivateKey)).to.equal(REFUSED)
  })

  it('takes the next orders of a plain key without a question until it is told of its delegation', async () => {
    const privateKey: Hex = `0x${'08'.repeat(32)}`
    const address = addressOf(privateKey)
    const tell = (news: TouchedNews) => bus.ask(tellTouched, encodeTouched(news), 1_000)
    const { number: first } = await anvil.client.getBlock()
    await tell({ first, head: first, accounts: [], keys: [] })
    expect(await place(address, privateKey)).to.equal('checked')
    const deaf = await deployWallet(anvil.client, wallets.DeafWallet)
    await delegate(anvil.client, privateKey, deaf)
    expect(await place(address, privateKey)).to.equal('checked')
    const { number: head } = await anvil.client.getBlock()
    await tell({ first: first + 1n, head, accounts: [], keys: [address] })
    expect(await place(address, privateKey)).to.equal(REFUSED)
  })
})
