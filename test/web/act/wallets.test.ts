import { signal } from '@preact/signals'
import { expect } from 'chai'
import type { AccountsBody } from '../../../client/index.js'
import type { DepositRequest, TransferOutcome } from '../../../web/act/transfer.js'
import { createWallets } from '../../../web/act/wallets.js'
import type { OwnState } from '../../../web/state/own-state.js'
import type { Terminal } from '../../../web/state/terminal.js'
import type { Trader } from '../../../web/state/trader.js'
import { createKeyShelf, type TextStorage } from '../../../web/wallet/session-key.js'
import { CHAIN, FakeWallet, OWNER } from '../wallet/fake-wallet.js'
import { eventually } from '../../support/eventually.js'
import { anotherOwn, anOwn, fakeTerminal } from './fake-terminal.js'

const SPOT_MANAGER = `0x${'51'.repeat(20)}`
const PERP_MANAGER = `0x${'52'.repeat(20)}`
const FACTS = {
  chain_id: CHAIN.id,
  chain: { name: CHAIN.name },
  domains: { actions: { verifyingContract: CHAIN.matching } },
  contracts: {
    spot_manager: SPOT_MANAGER,
    perp_manager: PERP_MANAGER,
    usdc: `0x${'a1'.repeat(20)}`,
    wrapped_usdc: `0x${'a2'.repeat(20)}`,
  },
}

type Accounts = Pick<AccountsBody, 'accounts'>['accounts']
const account = (id: string, manager = SPOT_MANAGER): Accounts => [
  { subaccount_id: id, manager_address: manager, leaving: false, markets: [] },
]

/** A page on which the wallet of `OWNER` announces itself and can be connected. It has read no accounts yet. */
async function aPage() {
  const fake = new FakeWallet()
  fake.answers.set('eth_call', () => `0x${'f'.repeat(64)}`)
  const listed = { accounts: account('5') }
  const page = fakeTerminal({
    accounts: () =>
      Promise.resolve({ ...listed, session_keys: registered(fake) } as unknown as AccountsBody),
  })
  const enter = (trader: Trader | undefined): void => {
    page.own.value =
      trader &&
      ({ ...anOwn(), trader, accounts: signal([]), reread: () => undefined } satisfies OwnState)
  }
  page.own.value = undefined
  const terminal = { ...page.terminal, enter, facts: FACTS } as unknown as Terminal
  const kept: TextStorage = {
    getItem: () => null,
    setItem: () => undefined,
    removeItem: () => undefined,
  }
  const tab = createKeyShelf(kept, CHAIN.matching)
  const deposits: DepositRequest[] = []
  const answers: (TransferOutcome | Promise<TransferOutcome>)[] = []
  const deposit = async (_own: object, asked: DepositRequest): Promise<TransferOutcome> => {
    deposits.push(asked)
    return (await answers.shift()) ?? { status: 'confirmed', hash: '0xab', credited: '12' }
  }
  const wallets = createWallets(
    terminal,
    { deposit },
    {
      page: new EventTarget(),
      legacy: undefined,
      storage: undefined,
      tab,
      vault: undefined,
    },
  )
  await wallets.connect(fake.found())
  await eventually(() => expect(page.own.value?.trader.owner).to.equal(OWNER))
  const said = (): string => wallets.progress.value?.steps.join() ?? ''
  return { ...page, fake, wallets, listed, deposits, answers, said }
}

/** The key of the newest registration that the wallet has sent. */
function registered({ calls }: FakeWallet): readonly { address: string; expiry: string }[] {
  const sent = calls.findLast(({ method }) => method === 'eth_sendTransaction')
  if (sent === undefined) return []
  const { data } = sent.params[0] as { readonly data: string }
  return [{ address: `0x${data.slice(34, 74)}`, expiry: `${BigInt(`0x${data.slice(74, 138)}`)}` }]
}

const sentTo = ({ calls }: FakeWallet): readonly unknown[] =>
  calls.filter(({ method }) => method === 'eth_sendTransaction').map(({ params }) => params[0])

describe('web/act: a wallet', () => {
  it('asks for each order again once its session key has ended, and says so', async () => {
    const { wallets, own, nowSec, toasts } = await aPage()
    await wallets.enable(86_400, false)
    expect(own.value?.trader.isSilent).to.equal(true)
    nowSec.value += 86_399
    expect(own.value?.trader.isSilent).to.equal(true)
    nowSec.value += 1
    expect(wallets.key.value).to.equal(undefined)
    expect(own.value?.trader).to.include({ isSilent: false, owner: OWNER })
    expect(toasts.alarm.value).to.match(/key has ended/)
  })

  it('does not come back when its key ends while another trader is shown', async () => {
    const { wallets, own, nowSec } = await aPage()
    await wallets.enable(86_400, false)
    const other = anOwn()
    own.value = other
    nowSec.value += 86_400
    expect(wallets.key.value).to.equal(undefined)
    expect(own.value).to.equal(other)
    wallets.use()
    expect(own.value?.trader).to.include({ kind: 'wallet', owner: OWNER, isSilent: false })
  })

  it('pays into the account of its own owner, though the page has not read it yet', async () => {
    const { wallets, fake } = await aPage()
    await wallets.fundTrading('USDC', '3')
    const data = `0xe2bbb158${'5'.padStart(64, '0')}${(3_000_000).toString(16).padStart(64, '0')}`
    expect(sentTo(fake)).to.deep.equal([
      { from: OWNER, to: FACTS.contracts.wrapped_usdc, data, value: '0x0' },
    ])
  })

  it('pays nothing while the page shows another owner, whose accounts are not its own', async () => {
    const { wallets, own, fake, deposits, said } = await aPage()
    own.value = { ...anotherOwn(), accounts: signal(account('9')), reread: () => undefined }
    await wallets.fundTrading('USDC', '3')
    expect(said()).to.match(/shows another account/)
    await wallets.fundMargin('3')
    expect(said()).to.match(/shows another account/)
    expect(deposits).to.deep.equal([])
    expect(fake.prompts()).to.deep.equal(['eth_requestAccounts'])
  })

  it('opens one margin account, and goes on once the venue lists it', async () => {
    const { wallets, listed, deposits, said } = await aPage()
    const paying = wallets.fundMargin('100')
    await eventually(() => expect(said()).to.match(/Waiting until the venue shows it/))
    expect(wallets.progress.value?.isOver).to.equal(false)
    listed.accounts = [...account('5'), ...account('12', PERP_MANAGER)]
    await paying
    expect(said()).to.match(/Deposit: Done: 0xab.*Done$/)
    await wallets.fundMargin('100')
    expect(deposits.map(({ subaccountId }) => subaccountId)).to.deep.equal([undefined, '12'])
  })

  it('says what became of a deposit that was not carried out', async () => {
    const { wallets, answers, said } = await aPage()
    answers.push({ status: 'rejected', hash: undefined })
    await wallets.fundMargin('100')
    expect(said()).to.match(/The venue did not take the deposit/)
    answers.push({ status: 'reverted', hash: '0xab' })
    await wallets.fundMargin('100')
    expect(said()).to.match(/The chain refused the deposit/)
  })

  it('does one thing at a time', async () => {
    const { wallets, listed, deposits } = await aPage()
    listed.accounts = account('12', PERP_MANAGER)
    await Promise.all([wallets.fundMargin('100'), wallets.fundMargin('100')])
    expect(deposits).to.have.length(1)
  })
})
