import { useSignal, type Signal } from '@preact/signals'
import type { JSX } from 'preact'
import { wordsOf } from '../../client/words-of.js'
import { createLock } from '../act/place-once.js'
import { Modal } from './modal.js'
import { usePage } from './page.js'

/** Money in and out, with what is signed in words before it is. It always asks the owner’s key. */
export function TransferDialog(props: {
  readonly kind: 'deposit' | 'withdraw'
  readonly subaccountId: string | undefined
}): JSX.Element {
  const { terminal, transfers } = usePage()
  const { kind, subaccountId } = props
  const amount = useSignal('')
  const said = useSignal('')
  const lock = useSignal(createLock()).value
  const own = terminal.own.value
  const held = own?.balances.value.find((one) => one.subaccount_id === subaccountId)
  const assets = assetsOf(terminal.facts.contracts, held?.manager_address)
  const asset = useSignal(assets[0]?.address ?? '')
  const chosen = assets.find(({ address }) => address === asset.value) ?? assets[0]
  const text = amount.value.trim()
  const words = signedWords(kind, { amount: text, name: chosen?.name ?? '', subaccountId })
  const send = async (): Promise<void> => {
    if (own === undefined) return
    said.value = 'Waiting for the signature, then for the chain …'
    try {
      const { status, hash } =
        kind === 'deposit'
          ? await transfers.deposit(own, { amount: text, subaccountId })
          : await transfers.withdraw(own, {
              amount: text,
              subaccountId: subaccountId ?? '',
              asset: chosen?.address ?? '',
            })
      said.value = `The ${kind === 'deposit' ? 'deposit' : 'withdrawal'} is ${status}: ${hash ?? 'no transaction'}`
      own.reread()
    } catch (error) {
      said.value = wordsOf(error)
    }
  }
  const submit = (event: Event): void => {
    event.preventDefault()
    void lock.run(send)
  }
  return (
    <Modal title={kind === 'deposit' ? 'Deposit' : 'Withdraw'}>
      <form onSubmit={submit}>
        <label class="field">
          <span>{kind === 'deposit' ? 'Amount to deposit' : 'Amount to withdraw'}</span>
          <input
            inputMode="decimal"
            required
            value={amount.value}
            onInput={(event) => (amount.value = event.currentTarget.value)}
          />
          <span class="unit">{kind === 'deposit' ? 'USDC' : ''}</span>
        </label>
        {kind === 'withdraw' && <AssetChoice assets={assets} asset={asset} />}
        <p class="quiet">{words}</p>
        <button type="submit" class="main" disabled={lock.isBusy.value}>
          Sign and {kind}
        </button>
        <p class="said hash" role="status">
          {said.value}
        </p>
      </form>
    </Modal>
  )
}

function AssetChoice(props: {
  readonly assets: readonly HeldAsset[]
  readonly asset: Signal<string>
}): JSX.Element {
  return (
    <label class="field">
      <span>Asset</span>
      <select
        value={props.asset.value}
        onChange={(event) => (props.asset.value = event.currentTarget.value)}
      >
        {props.assets.map(({ name, address }) => (
          <option key={address} value={address}>
            {name}
          </option>
        ))}
      </select>
    </label>
  )
}

interface Asked {
  readonly amount: string
  readonly name: string
  readonly subaccountId: string | undefined
}

/** What will be signed, in a sentence. */
function signedWords(kind: 'deposit' | 'withdraw', { amount, name, subaccountId }: Asked): string {
  if (amount === '') return 'Enter an amount to see what will be signed.'
  const account = subaccountId === undefined ? 'a new margin account' : `account ${subaccountId}`
  return kind === 'deposit'
    ? `You sign twice: let the deposit module take ${amount} USDC of your wallet, and deposit them into ${account}, once, within five minutes. The venue pays the gas.`
    : `You sign: pay ${amount} ${name} of ${account} out to your wallet, once, within five minutes. The venue pays the gas.`
}

interface HeldAsset {
  readonly name: string
  readonly address: string
}

/** What an account under this manager may hold, as words and as the address that is signed. */
function assetsOf(
  contracts: Readonly<Record<string, string>>,
  manager: string | undefined,
): readonly HeldAsset[] {
  const cash = { name: 'USDC, the cash of the margin account', address: contracts.cash_asset ?? '' }
  const tokens = [
    { name: 'USDC', address: contracts.wrapped_usdc ?? '' },
    { name: 'cNGN', address: contracts.wrapped_cngn ?? '' },
  ]
  const isPerpetual = manager?.toLowerCase() === contracts.perp_manager?.toLowerCase()
  return isPerpetual ? [cash] : tokens
}
