import { expect } from 'chai'
import { encodeFunctionData } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { encodeTouched } from '../../../bus-schemas/reports.js'
import { tellTouched } from '../../../bus-schemas/subjects.js'
import type { SignatureVerifier } from '../../../chain/signing/verify-signature.js'
import type { Hex } from '../../../core/action.js'
import type { TouchedNews } from '../../../core/touched-blocks.js'
import type { MemoryBus } from '../../../runtime/bus/memory-bus.js'
import { ANVIL_KEY, startAnvil, type Anvil } from '../../support/anvil.js'
import { testPrivateKey } from '../../support/builders.js'
import { addressOf } from '../../support/cancel-proofs.js'
import { eventually } from '../../support/eventually.js'
import {
  compileWallets,
  delegate,
  deployWallet,
  type WalletName,
} from '../../support/test-wallets.js'
import { openWalletStage, type WalletStage } from '../../support/wallet-stage.js'

const REFUSED = 'signature does not authorize this action'
const keyAddress = addressOf(testPrivateKey)

describe('orders of wallet contracts on a chain', function () {
  let anvil: Anvil
  let wallets: Awaited<ReturnType<typeof compileWallets>>
  let stage: WalletStage
  let bus: MemoryBus
  let verifier: SignatureVerifier
  let place: WalletStage['place']

  before(async () => {
    ;[anvil, wallets] = await Promise.all([startAnvil(), compileWallets()])
  })
  after(() => anvil.stop())

  beforeEach(async () => {
    stage = await openWalletStage(anvil)
    ;({ bus, verifier, place } = stage)
  })
  afterEach(() => stage.stop())

  it('takes what the wallet accepts, until it does not any more', async () => {
    const wallet = await deployWallet(anvil.client, wallets.KeyWallet, keyAddress)
    expect(await place(wallet)).to.equal('checked')
    expect(await place(wallet, otherKey)).to.equal(REFUSED)
    const data = encodeFunctionData({ abi: wallets.KeyWallet.abi, functionName: 'lock' })
    const account = privateKeyToAccount(ANVIL_KEY)
    const hash = await anvil.client.sendTransaction({ account, to: wallet, data })
    await anvil.client.waitForTransactionReceipt({ hash })
    expect(await place(wallet)).to.equal(REFUSED)
  })

  const otherKey: Hex = `0x${'02'.repeat(32)}`

  it('takes what an owner of a Safe signs: by a proxy, its singleton and a handler that asks back', async () => {
    const { client } = anvil
    const singleton = await deployWallet(client, wallets.SafeLikeSingleton)
    const handler = await deployWallet(client, wallets.SafeLikeHandler)
    const terms = [singleton, handler, keyAddress]
    const safe = await deployWallet(client, wallets.SafeLikeProxy, ...terms)
    expect(await place(safe)).to.equal('checked')
    expect(await place(safe, otherKey)).to.equal(REFUSED)
  })

  it('takes what the owner of an account with modules vouches for, a contract itself', async () => {
    const { client } = anvil
    const owner = await deployWallet(client, wallets.KeyWallet, keyAddress)
    const validator = await deployWallet(client, wallets.OwnerValidator)
    const account = await deployWallet(client, wallets.ModularWallet, validator, owner)
    expect(await place(account)).to.equal('checked')
    expect(await place(account, otherKey)).to.equal(REFUSED)
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

  it('asks the delegate of a plain key, once it has one (AUT-004)', async () => {
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
