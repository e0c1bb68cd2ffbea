import { expect } from 'chai'
import {
  OutcomeUnknown,
  transferHash,
  type DepositRecord,
  type NewDeposit,
  type NewWithdrawal,
  type TransferClient,
  VenueRefused,
} from '../../../client/index.js'
import { createTransfers } from '../../../web/act/transfer.js'
import { anOwn, fakeTerminal } from './fake-terminal.js'

const CONFIRMED = { status: 'confirmed', tx_hash: '0xab', subaccount_id: '7' } as DepositRecord
const FACTS = {
  contracts: Object.fromEntries(
    ['deposit_module', 'withdrawal_module', 'usdc', 'cash_asset', 'perp_manager'].map(
      (name, at) => [name, `0x${(at + 1).toString().repeat(40)}`],
    ),
  ),
}
const ASSET = `0x${'99'.repeat(20)}`

type Answer = () => Promise<never>
const silence: Answer = () => Promise.reject(new OutcomeUnknown('no answer'))

interface Told {
  /** What the venue answers to requests, then to look-ups; it confirms where nothing is left. */
  readonly send?: Answer[]
  readonly look?: Answer[]
}

function aVenue({ send = [], look = [] }: Told) {
  const bodies: (NewDeposit | NewWithdrawal)[] = []
  const looked: string[] = []
  const take = (body: NewDeposit | NewWithdrawal): Promise<never> => {
    bodies.push(body)
    return (send.shift() ?? (() => Promise.resolve(CONFIRMED as never)))()
  }
  const settled = (hash: string): Promise<never> => {
    looked.push(hash)
    return (look.shift() ?? (() => Promise.resolve(CONFIRMED as never)))()
  }
  const client = {
    permitNonce: () => Promise.resolve(0n),
    deposit: take,
    withdraw: take,
    settledDeposit: settled,
    settledWithdrawal: settled,
  } as unknown as TransferClient
  const { terminal } = fakeTerminal({})
  const transfers = createTransfers({ ...terminal, facts: FACTS as never }, client)
  return { transfers, bodies, looked, domain: terminal.domain }
}

type Transfers = ReturnType<typeof createTransfers>
const own = anOwn()
const WAYS: readonly (readonly [
  string,
  (transfers: Transfers, amount?: string) => Promise<unknown>,
])[] = [
  ['deposit', (all, amount = '5') => all.deposit(own, { amount, subaccountId: '7' })],
  [
    'withdrawal',
    (all, amount = '5') => all.withdraw(own, { amount, subaccountId: '7', asset: ASSET }),
  ],
]

for (const [name, go] of WAYS) {
  describe(`web/act: a ${name}`, () => {
    it('is looked up where no answer came', async () => {
      const { transfers, bodies, looked, domain } = aVenue({ send: [silence] })
      expect(await go(transfers)).to.include({ status: 'confirmed', hash: '0xab' })
      expect(looked).to.deep.equal(bodies.map((body) => transferHash(domain, body)))
      expect(transfers.receipts.value).to.deep.equal([
        {
          kind: name,
          owner: own.trader.owner,
          subaccountId: '7',
          amount: '5',
          token: 'USDC',
          status: 'confirmed',
          hash: '0xab',
          atSec: 1_800_000_000,
        },
      ])
    })

    it('is not signed again while it can be taken and the venue has no record of it', async () => {
      const absent: Answer = () =>
        Promise.reject(new VenueRefused(404, `${name}_not_found`, 'no such transfer', {}))
      const { transfers, bodies, looked } = aVenue({ send: [silence], look: [absent] })
      const first = await go(transfers).catch((error: unknown) => error)
      expect(first).to.be.instanceOf(OutcomeUnknown)
      expect(await go(transfers)).to.include({ status: 'confirmed' })
      expect(bodies).to.have.length(1)
      expect(looked).to.have.length(2)
    })

    it('is not signed again until its outcome is known', async () => {
      const { transfers, bodies, looked } = aVenue({ send: [silence], look: [silence, silence] })
      for (let press = 0; press < 2; press++) {
        const error: unknown = await go(transfers).catch((thrown: unknown) => thrown)
        expect(error).to.be.instanceOf(OutcomeUnknown)
        expect(String(error)).to.match(/not signed twice/)
      }
      expect(await go(transfers)).to.include({ status: 'confirmed' })
      expect([bodies.length, new Set(looked).size]).to.deep.equal([1, 1])
      await go(transfers)
      expect([bodies.length, new Set(looked).size]).to.deep.equal([2, 2])
    })

    it('is another one where another amount is asked, or the first was refused', async () => {
      const refused = (): Promise<never> => Promise.reject(new Error('refused'))
      const { transfers, bodies } = aVenue({ look: [silence, refused] })
      await go(transfers).catch(() => undefined)
      await go(transfers, '6').catch(() => undefined)
      await go(transfers, '6')
      expect(bodies).to.have.length(3)
    })
  })
}

describe('web/act: a deposit that opens an account', () => {
  const open = (transfers: Transfers, amount = '5', subaccountId?: string) =>
    transfers.deposit(own, { amount, subaccountId })

  it('is two signatures, and names the account that it has opened', async () => {
    const { transfers, bodies } = aVenue({})
    const steps: string[] = []
    const onStep = ({ step, state }: { step: string; state: string }): void =>
      void steps.push(`${step} ${state}`)
    const outcome = await transfers.deposit(own, { amount: '5', subaccountId: undefined, onStep })
    expect(outcome).to.include({ credited: '7' })
    expect(steps).to.deep.equal(['permit asking', 'deposit asking', 'deposit sent'])
    expect(bodies.map(({ action }) => action.subaccount_id)).to.deep.equal(['0'])
  })

  it('is looked up by the next one, also where its account is listed by now', async () => {
    const { transfers, bodies, looked } = aVenue({ look: [silence] })
    await open(transfers).catch(() => undefined)
    expect(await open(transfers, '5', '7')).to.include({ status: 'confirmed', credited: '7' })
    expect([bodies.length, new Set(looked).size]).to.deep.equal([1, 1])
    await open(transfers, '5', '7')
    expect(bodies.map(({ action }) => action.subaccount_id)).to.deep.equal(['0', '7'])
  })

  it('lets no other one open a second account before its outcome is known', async () => {
    const { transfers, bodies } = aVenue({ look: [silence] })
    await open(transfers).catch(() => undefined)
    const error: unknown = await open(transfers, '6').catch((thrown: unknown) => thrown)
    expect(String(error)).to.match(/A deposit of 5 USDC .* has no outcome yet/)
    expect(bodies).to.have.length(1)
    // Another payment into an account that is there is another one.
    await open(transfers, '6', '8')
    expect(bodies).to.have.length(2)
  })
})
