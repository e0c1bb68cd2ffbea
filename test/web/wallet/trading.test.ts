import { expect } from 'chai'
import type { Address, Hex } from '../../../core/action.js'
import type { WalletFault } from '../../../web/wallet/fault.js'
import {
  openTradingAccount,
  type OpeningStep,
  type TradingAccountTerms,
} from '../../../web/wallet/open-account.js'
import {
  createKeyShelf,
  createTrading,
  KEY_LIVES_SEC,
  type KeyPlace,
  type KeptKey,
  type TradingParts,
  type TradingStep,
} from '../../../web/wallet/session-key.js'
import { createSender, type WalletSender } from '../../../web/wallet/transactions.js'
import { CHAIN, FakeWallet, HASH, KEY, OWNER, rejection } from './fake-wallet.js'

const NOW_MS = 1_795_000_000_000
const failed = async (work: Promise<unknown>): Promise<WalletFault> => {
  try {
    await work
  } catch (error) {
    return error as WalletFault
  }
  return expect.fail('nothing was refused')
}

function senderOf(fake: FakeWallet, check: () => void = () => undefined): WalletSender {
  return createSender({
    provider: fake,
    owner: OWNER,
    chain: CHAIN,
    check,
    everyMs: 1,
    withinMs: 20,
  })
}

describe('a transaction of the owner', () => {
  let fake: FakeWallet
  beforeEach(() => (fake = new FakeWallet()))
  const call = { to: CHAIN.matching, data: '0x12' as Hex, deed: 'the approval' }

  it('is sent on the venue’s chain alone, and waited for', async () => {
    const hashes: string[] = []
    const hash = await senderOf(fake).send({ ...call, onHash: (sent) => hashes.push(sent) })
    expect([hash, hashes]).to.deep.equal([HASH, [HASH]])
    const sent = fake.calls.find(({ method }) => method === 'eth_sendTransaction')
    expect(sent?.params).to.deep.equal([
      { from: OWNER, to: CHAIN.matching, data: '0x12', value: '0x0' },
    ])
    fake.chainId = 8_453
    expect((await failed(senderOf(fake).send(call))).code).to.equal('wrong_chain')
    fake.chainId = CHAIN.id
    fake.chains.set(CHAIN.id, '0x')
    expect((await failed(senderOf(fake).send(call))).code).to.equal('not_the_venue')
    expect(fake.prompts()).to.have.length(1)
  })

  it('is not sent from another account, and its failures name it', async () => {
    const changed = senderOf(fake, () => {
      throw new Error('changed')
    })
    expect((await failed(changed.send(call))).message).to.equal('changed')
    expect(fake.prompts()).to.deep.equal([])
    fake.status = '0x0'
    expect(await failed(senderOf(fake).send(call))).to.include({ code: 'reverted', hash: HASH })
    fake.status = undefined
    expect(await failed(senderOf(fake).send(call))).to.include({ code: 'no_receipt', hash: HASH })
    fake.rejects.set('eth_sendTransaction', rejection(4001))
    const rejected = await failed(senderOf(fake).send(call))
    expect(rejected.message).to.equal('You rejected the approval in the wallet.')
  })
})

/** Keeps keys in memory. */
function aPlace(): KeyPlace & { readonly kept: Map<Address, KeptKey> } {
  const kept = new Map<Address, KeptKey>()
  return {
    kept,
    read: (owner) => Promise.resolve(kept.get(owner)),
    write: (key) => Promise.resolve(void kept.set(key.owner, key)),
    forget: (owner) => Promise.resolve(void kept.delete(owner)),
  }
}

describe('enabled trading', () => {
  let fake: FakeWallet
  let tab: ReturnType<typeof aPlace>
  let vault: ReturnType<typeof aPlace>
  let nowMs: number
  /** What the venue lists, by address. */
  let listed: Map<string, bigint>
  let lists: boolean
  beforeEach(() => {
    fake = new FakeWallet()
    ;[tab, vault, nowMs, lists] = [aPlace(), aPlace(), NOW_MS, true]
    listed = new Map<string, bigint>()
    fake.answers.set('eth_sendTransaction', ([sent]) => {
      const { data } = sent as { data: string }
      const key = `0x${data.slice(34, 74)}`
      if (data.startsWith('0x47a90d44')) listed.set(key, BigInt(`0x${data.slice(74)}`))
      else listed.delete(key)
      return HASH
    })
  })
  const trading = (more: Partial<TradingParts> = {}) =>
    createTrading({
      tab,
      vault,
      nowMs: () => nowMs,
      everyMs: 1,
      withinMs: 20,
      ...more,
      accounts: () =>
        Promise.resolve({
          session_keys: [...(lists ? listed : [])].map(([address, expiry]) => ({
            address,
            expiry: expiry.toString(),
          })),
        }),
    })
  const DAY = { livesSec: KEY_LIVES_SEC.day, remember: false }

  it('is one transaction: the key is kept, listed, and signs for the owner', async () => {
    const steps: TradingStep[] = []
    const key = await trading().enable(senderOf(fake), {
      ...DAY,
      onStep: (step) => steps.push(step),
    })
    expect(steps.map(({ step }) => step)).to.deep.equal(['asking', 'sent', 'mined', 'done'])
    expect(fake.prompts()).to.deep.equal(['eth_sendTransaction'])
    expect(key).to.include({ owner: OWNER, expirySec: NOW_MS / 1_000 + 86_400 })
    expect(listed.get(key.address)).to.equal(BigInt(key.expirySec))
    expect([tab.kept.size, vault.kept.size]).to.deep.equal([1, 0])
    expect((await trading().known(OWNER))?.address).to.equal(key.address)
    await trading().renew(senderOf(fake), key, { ...DAY, remember: true })
    expect([tab.kept.size, vault.kept.size]).to.deep.equal([0, 1])
    expect((await trading().known(OWNER))?.address, 'the same key').to.equal(key.address)
  })

  it('keeps nothing where the wallet or the chain refuses', async () => {
    fake.rejects.set('eth_sendTransaction', rejection(4001))
    expect((await failed(trading().enable(senderOf(fake), DAY))).code).to.equal('rejected')
    fake.status = '0x0'
    expect((await failed(trading().enable(senderOf(fake), DAY))).code).to.equal('reverted')
    expect(tab.kept.size).to.equal(0)
    const without = trading({ vault: undefined })
    const remembering = without.enable(senderOf(fake), { ...DAY, remember: true })
    expect((await failed(remembering)).code).to.equal('not_kept')
  })

  it('is over with the key: at its end, where the venue does not list it, and when revoked', async () => {
    const key = await trading().enable(senderOf(fake), DAY)
    lists = false
    expect(await trading().known(OWNER)).to.equal(undefined)
    lists = true
    nowMs = (key.expirySec - 30) * 1_000
    expect(await trading().known(OWNER)).to.equal(undefined)
    expect(tab.kept.size, 'an old key is forgotten').to.equal(0)
    nowMs = NOW_MS
    const next = await trading().enable(senderOf(fake), DAY)
    expect(next.address).not.to.equal(key.address)
    await trading().revoke(senderOf(fake), next.address)
    expect(listed.has(next.address)).to.equal(false)
    expect(await trading().known(OWNER)).to.equal(undefined)
  })

  it('says so where the venue does not show the key yet, and finds it later', async () => {
    lists = false
    const slow = await failed(trading().enable(senderOf(fake), DAY))
    expect(slow).to.include({ code: 'not_seen', hash: HASH })
    lists = true
    expect(await trading().known(OWNER)).to.include({ owner: OWNER })
  })
})

describe('the keys of a tab', () => {
  const texts = new Map<string, string>()
  const storage = {
    getItem: (name: string) => texts.get(name) ?? null,
    setItem: (name: string, value: string) => void texts.set(name, value),
    removeItem: (name: string) => void texts.delete(name),
  }
  const kept: KeptKey = { owner: OWNER, privateKey: KEY, expirySec: 7 }

  it('are those of this venue and owner, in the form that this build has written', async () => {
    const shelf = createKeyShelf(storage, 'venue-1')
    await shelf.write(kept)
    expect(await shelf.read(OWNER)).to.deep.equal(kept)
    expect(await createKeyShelf(storage, 'venue-2').read(OWNER)).to.equal(undefined)
    expect(await shelf.read(CHAIN.matching)).to.equal(undefined)
    const [name = ''] = texts.keys()
    for (const odd of [
      '',
      '{',
      'null',
      '7',
      '{}',
      JSON.stringify({ ...kept, privateKey: '0x1' }),
    ]) {
      texts.set(name, odd)
      expect(await shelf.read(OWNER), odd).to.equal(undefined)
    }
    await shelf.forget(OWNER)
    expect(texts.size).to.equal(0)
  })

  it('are none where the browser keeps nothing, which is said', async () => {
    const blocked = (): never => {
      throw Object.assign(new Error('raw words'), { name: 'QuotaExceededError' })
    }
    const shelf = createKeyShelf({ ...storage, setItem: blocked }, 'venue-1')
    expect(await failed(shelf.write(kept))).to.include({ code: 'not_kept' })
  })
})

const contractOf = (n: number): Address => `0x${n.toString(16).padStart(40, '0')}`
const facts = {
  contracts: {
    usdc: contractOf(1),
    wrapped_usdc: contractOf(2),
    sub_account_creator: contractOf(3),
  },
}

describe('a guided opening', () => {
  let fake: FakeWallet
  let balance: bigint
  let allowance: bigint
  let steps: OpeningStep[]
  const manager = contractOf(9)
  let accounts: string[]
  let unseen: TradingAccountTerms['unseen']
  let isShown: boolean
  beforeEach(() => {
    fake = new FakeWallet()
    ;[balance, allowance, steps, accounts] = [5_000_000n, 0n, [], ['3']]
    unseen = new Map()
    isShown = true
    fake.answers.set('eth_call', ([call]) => {
      const { to, data } = call as { to: string; data: string }
      expect(to).to.equal(facts.contracts.usdc)
      const value = data.startsWith('0x70a08231') ? balance : allowance
      return `0x${value.toString(16).padStart(64, '0')}`
    })
    fake.answers.set('eth_sendTransaction', ([sent]) => {
      const { to, data } = sent as { to: string; data: string }
      if (data.startsWith('0x095ea7b3')) allowance = BigInt(`0x${data.slice(74)}`)
      if (to === facts.contracts.sub_account_creator) accounts.push('8')
      return HASH
    })
  })
  const open = (amount = '5') =>
    openTradingAccount(senderOf(fake), {
      facts,
      token: 'USDC',
      amount,
      manager,
      unseen,
      everyMs: 1,
      withinMs: 50,
      accounts: () =>
        Promise.resolve({
          accounts: accounts.slice(0, isShown ? undefined : 1).map((subaccount_id) => ({
            subaccount_id,
            manager_address: manager,
            leaving: false,
            markets: [],
          })),
        }),
      onStep: (step) => steps.push(step),
    })
  const said = (): string[] => steps.map(({ step, state }) => `${step} ${state}`)

  it('approves the amount, opens the account and finds its number', async () => {
    expect(await open()).to.equal('8')
    expect(said()).to.deep.equal([
      ...['approve asking', 'approve sent', 'approve mined'],
      ...['open asking', 'open sent', 'open mined', 'find waiting', 'find done'],
    ])
    const sent = fake.calls.filter(({ method }) => method === 'eth_sendTransaction')
    const [approve, create] = sent.map(({ params }) => params[0] as { to: string; data: string })
    const word = (value: string): string => value.replace('0x', '').padStart(64, '0')
    expect(approve?.data).to.equal(
      `0x095ea7b3${word(facts.contracts.sub_account_creator)}${word('4c4b40')}`,
    )
    expect(create?.data).to.equal(
      `0xc20818d8${word(facts.contracts.wrapped_usdc)}${word('4c4b40')}${word(manager)}`,
    )
  })

  it('opens no second account where the venue shows the first one late', async () => {
    isShown = false
    expect((await failed(open())).code).to.equal('not_seen')
    expect((await failed(open())).code).to.equal('not_seen')
    isShown = true
    expect(await open()).to.equal('8')
    expect(said().filter((step) => step === 'open asking')).to.have.length(1)
    expect(unseen.size).to.equal(0)
  })

  it('asks for no more than the wallet has, and goes on where it was rejected', async () => {
    expect((await failed(open('5.000001'))).code).to.equal('no_tokens')
    expect(fake.prompts()).to.deep.equal([])
    allowance = 5_000_000n
    fake.rejects.set('eth_sendTransaction', rejection(4001))
    expect((await failed(open())).message).to.equal(
      'You rejected the opening of the account in the wallet.',
    )
    expect(await open()).to.equal('8')
    expect(said()).not.to.include('approve asking')
  })
})
