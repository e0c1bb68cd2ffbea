import { expect } from 'chai'
import { hashMessage, recoverAddress, toFunctionSelector } from 'viem'
import { signFrame } from '../../../client/index.js'
import type { Address } from '../../../core/action.js'
import { callData, SELECTORS } from '../../../web/wallet/calls.js'
import {
  createConnection,
  type WalletConnection,
  type WalletState,
} from '../../../web/wallet/connection.js'
import { followWallets, type FoundWallet } from '../../../web/wallet/discover.js'
import { faultOf, type FaultCode } from '../../../web/wallet/fault.js'
import { eventually } from '../../support/eventually.js'
import { CHAIN, FakeWallet, OWNER, rejection } from './fake-wallet.js'

const OTHER: Address = `0x${'cd'.repeat(20)}`

describe('a wallet of the browser', () => {
  let fake: FakeWallet
  let states: WalletState[]
  let connection: WalletConnection
  beforeEach(() => {
    fake = new FakeWallet()
    states = []
    connection = createConnection(CHAIN, (state) => states.push(state))
  })
  const kinds = (): string[] => states.map(({ kind }) => kind)
  const now = (): WalletState => connection.state()
  const fault = (): FaultCode | undefined => now().fault?.code
  const ready = (): Promise<void> => connection.connect(fake.found())

  it('is ready once its account is known and the venue is on its chain', async () => {
    await ready()
    expect(kinds()).to.deep.equal(['connecting', 'ready'])
    expect(now()).to.deep.include({ address: OWNER })
    expect(fake.prompts()).to.deep.equal(['eth_requestAccounts'])
  })

  it('is on a wrong chain, or on another one under the right number, and is switched', async () => {
    fake.chainId = 8_453
    await ready()
    expect([now().kind, fault()]).to.deep.equal(['wrong_chain', 'wrong_chain'])
    await connection.switchChain()
    expect(now().kind).to.equal('ready')
    expect(fake.prompts().slice(1)).to.deep.equal(['wallet_switchEthereumChain'])
    fake.chains.set(CHAIN.id, '0x')
    await connection.connect(fake.found())
    expect([now().kind, fault()]).to.deep.equal(['not_the_venue', 'not_the_venue'])
    expect(now().fault?.cure).to.contain(CHAIN.rpcUrl)
  })

  it('has the chain added where it does not know it', async () => {
    fake.chainId = 8_453
    fake.chains.delete(CHAIN.id)
    await ready()
    await connection.switchChain()
    expect(now().kind).to.equal('ready')
    const added = fake.calls.find(({ method }) => method === 'wallet_addEthereumChain')
    expect(added?.params).to.deep.equal([
      {
        chainId: '0x31e10d86',
        chainName: 'Venue devnet',
        nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
        rpcUrls: [CHAIN.rpcUrl],
      },
    ])
  })

  it('cannot be led to a chain that neither it nor the venue can find', async () => {
    const { id, name, matching } = CHAIN
    connection = createConnection({ id, name, matching }, (state) => states.push(state))
    fake.chainId = 8_453
    fake.chains.delete(CHAIN.id)
    await ready()
    await connection.switchChain()
    expect([now().kind, fault()]).to.deep.equal(['wrong_chain', 'unknown_chain'])
    expect(now().fault?.cure).to.contain('Add Venue devnet')
  })

  it('goes on after every rejection, without a reload', async () => {
    fake.rejects.set('eth_requestAccounts', rejection(4001))
    await ready()
    expect([now().kind, fault()]).to.deep.equal(['none', 'rejected'])
    fake.rejects.set('eth_requestAccounts', rejection(-32002))
    await ready()
    expect(fault()).to.equal('busy')
    fake.accounts = []
    await ready()
    expect(fault()).to.equal('locked')
    fake.accounts = [OWNER]
    fake.chainId = 8_453
    await ready()
    fake.rejects.set('wallet_switchEthereumChain', rejection(4001))
    await connection.switchChain()
    expect([now().kind, fault()]).to.deep.equal(['wrong_chain', 'rejected'])
    await connection.switchChain()
    expect([now().kind, fault()]).to.deep.equal(['ready', undefined])
  })

  it('loses its account before another one comes', async () => {
    await ready()
    const { signer } = now() as Extract<WalletState, { kind: 'ready' }>
    states.length = 0
    fake.accounts = [OTHER]
    fake.emit('accountsChanged', [OTHER])
    expect(now()).to.deep.include({ kind: 'connecting' }).and.not.have.property('address')
    const refused = await signer.signMessage({ message: 'x' }).catch((error: unknown) => error)
    expect(refused).to.include({ code: 'account_changed' })
    await eventually(() => expect(now()).to.include({ kind: 'ready', address: OTHER }))
    expect(kinds()).to.deep.equal(['connecting', 'ready'])
    fake.emit('accountsChanged', [])
    expect([now().kind, fault()]).to.deep.equal(['none', 'locked'])
    expect(fake.listeners()).to.equal(0)
  })

  it('is looked at again when its chain changes', async () => {
    await ready()
    fake.chainId = 8_453
    fake.emit('chainChanged', '0x2105')
    await eventually(() => expect(now().kind).to.equal('wrong_chain'))
    fake.chainId = CHAIN.id
    fake.emit('chainChanged', '0x31e10d86')
    await eventually(() => expect(now().kind).to.equal('ready'))
    fake.emit('disconnect', rejection(4900))
    expect([now().kind, fault()]).to.deep.equal(['none', 'disconnected'])
  })

  it('that answers late changes nothing for the wallet that was chosen since', async () => {
    let answer: (accounts: Address[]) => void = () => undefined
    fake.answers.set('eth_requestAccounts', () => new Promise((resolve) => (answer = resolve)))
    const first = connection.connect(fake.found('slow.wallet'))
    const second = new FakeWallet()
    await connection.connect(second.found('quick.wallet'))
    answer([OTHER])
    await first
    expect(now()).to.deep.include({ kind: 'ready', address: OWNER })
    expect(fake.listeners(), 'of the first').to.equal(0)
  })

  it('is resumed without a question, or not at all', async () => {
    await connection.resume(fake.found())
    expect([now().kind, fake.prompts()]).to.deep.equal(['ready', []])
    connection.disconnect()
    fake.accounts = []
    await connection.resume(fake.found())
    expect(now()).to.deep.equal({ kind: 'none' })
  })

  it('signs frames and orders that the venue takes', async () => {
    await ready()
    const { signer } = now() as Extract<WalletState, { kind: 'ready' }>
    const { signature, address } = await signFrame(signer, { purpose: 'history', domain: 'd' })
    expect(address).to.equal(OWNER)
    const signed = fake.calls.at(-1)?.params[0] as `0x${string}`
    const text = Buffer.from(signed.slice(2), 'hex').toString()
    expect(text).to.contain(`Address: ${OWNER}`)
    const signer2 = await recoverAddress({ hash: hashMessage(text), signature })
    expect(signer2.toLowerCase()).to.equal(OWNER)
  })
})

describe('the wallets of a browser', () => {
  const announce = (page: EventTarget, detail: unknown): void => {
    page.dispatchEvent(Object.assign(new Event('eip6963:announceProvider'), { detail }))
  }
  const info = (rdns: string, icon = 'data:image/png;base64,AA') => ({
    rdns,
    name: rdns.toUpperCase(),
    uuid: rdns,
    icon,
  })

  it('are those that announce themselves, each once, when asked and later', () => {
    const page = new EventTarget()
    const provider = new FakeWallet()
    page.addEventListener('eip6963:requestProvider', () =>
      announce(page, { info: info('one'), provider }),
    )
    let shown: readonly FoundWallet[] = []
    const end = followWallets(page, (wallets) => (shown = wallets))
    announce(page, { info: info('one'), provider: new FakeWallet() })
    announce(page, { info: info('two', 'https://tracker.example/a.png'), provider })
    for (const odd of [undefined, {}, { info: info('x') }, { info: { rdns: 1 }, provider }])
      announce(page, odd)
    expect(shown.map(({ rdns, icon }) => [rdns, icon])).to.deep.equal([
      ['one', 'data:image/png;base64,AA'],
      ['two', ''],
    ])
    expect(shown[0]?.provider).to.equal(provider)
    end()
    announce(page, { info: info('three'), provider })
    expect(shown).to.have.length(2)
  })

  it('has the old one only where none announces itself, and no more than a bound', () => {
    const page = new EventTarget()
    const legacy = new FakeWallet()
    let shown: readonly FoundWallet[] = []
    followWallets(page, (wallets) => (shown = wallets), legacy)
    expect(shown.map(({ rdns }) => rdns)).to.deep.equal(['injected'])
    for (let n = 0; n < 40; n += 1) announce(page, { info: info(`w${n}`), provider: legacy })
    expect(shown).to.have.length(32)
    expect(shown[0]?.rdns).to.equal('w0')
  })
})

describe('what a wallet refuses', () => {
  const cases: [unknown, FaultCode][] = [
    [rejection(4001), 'rejected'],
    [rejection(-32002), 'busy'],
    [rejection(4100), 'locked'],
    [rejection(4200), 'unsupported'],
    [rejection(-32601), 'unsupported'],
    [rejection(4900), 'disconnected'],
    [rejection(4902), 'unknown_chain'],
    [
      Object.assign(rejection(-32603), { data: { originalError: { code: 4902 } } }),
      'unknown_chain',
    ],
    [Object.assign(new Error('x'), { cause: { code: 4001 } }), 'rejected'],
    [rejection(-32000, 'insufficient funds for gas * price + value'), 'no_gas'],
    [rejection(-32603), 'failed'],
    ['a text', 'failed'],
    [undefined, 'failed'],
  ]
  for (const [error, code] of cases) {
    const of = (error as { code?: number } | undefined)?.code ?? String(error)
    it(`is said in a sentence with a cure, never in its own words: ${of} is ${code}`, () => {
      const found = faultOf(error, 'the signature')
      expect(found.code).to.equal(code)
      for (const text of [found.message, found.cure]) expect(text).to.match(/^[A-Z].*\.$/)
      expect(`${found.message} ${found.cure}`).not.to.contain('raw words')
    })
  }
})

describe('calls of a wallet', () => {
  it('begin with the selectors of their signatures, and have words of 32 bytes', () => {
    for (const [signature, selector] of Object.entries(SELECTORS)) {
      expect(`0x${selector}`, signature).to.equal(toFunctionSelector(`function ${signature}`))
    }
    expect(callData('approve(address,uint256)', OTHER, 2n ** 256n - 1n)).to.equal(
      `0x095ea7b3${'0'.repeat(24)}${'cd'.repeat(20)}${'f'.repeat(64)}`,
    )
  })
})
