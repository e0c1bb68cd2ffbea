import { encodePermit } from '../../chain/contracts/calldata.js'
import type { Deployment } from '../../chain/reads/deployment.js'
import { fingerprintOf } from '../../chain/signing/keys.js'
import type { Address } from '../../core/action.js'
import {
  allowanceTooLow,
  balanceTooLow,
  nonceSpent,
  notPerpAccount,
  notTransferOwner,
  permitRefused,
  type TransferRefusal,
} from '../../core/entry/transfer-refusals.js'
import {
  refusePermit,
  validateDeposit,
  type SignedPermit,
  type ValidDeposit,
} from '../../core/entry/validate-transfer.js'
import {
  readHeldAccount,
  type Need,
  type Preparation,
  type SubmitterChain,
  type TransferRules,
} from './rules.js'

export const DEPOSITS_PER_MINUTE = 3
export const DEPOSITS_PER_HOUR = 6

export interface DepositDeps extends Pick<SubmitterChain, 'reader' | 'accounts' | 'clock'> {
  readonly deployment: Deployment
  /** The manager of accounts that hold cash. */
  readonly perpManager: Address
}

/** Reverts that contradict `preCheck`, by error name or by the revert text of older tokens. */
const RACES =
  /^(BM_NonceAlreadyUsed|OV_InvalidActionOwner|ERC721\w+|ERC20Insufficient(Balance|Allowance)|Error: ERC20: transfer amount exceeds (balance|allowance))$/

/** The rules of a deposit of USDC into an account under the perp manager (TRA-024 to TRA-034). */
export function createDepositRules(deps: DepositDeps): TransferRules<ValidDeposit> {
  const { depositModule, cashAsset, usdc } = deps.deployment
  const { perpManager } = deps
  return {
    kind: 'deposit',
    module: depositModule,
    contracts: { depositModule, cashAsset, usdc, perpManager },
    perMinute: DEPOSITS_PER_MINUTE,
    perHour: DEPOSITS_PER_HOUR,
    validate: (body, nowMs) =>
      validateDeposit(body, { depositModule, cashAsset, perpManager, nowMs }),
    preCheck: (deposit) => preCheck(deps, deposit),
    need: async (deposit) => {
      const { owner } = deposit.action
      return needOf(deps, deposit, await deps.reader.allowance(usdc, owner, depositModule))
    },
    preparation: ({ action, permit }) =>
      permit === undefined ? undefined : permitCall(deps, action.owner, permit),
    isRace: (revert) => RACES.test(revert),
    revertName: (_, revert) => revert,
  }
}

async function preCheck(
  deps: DepositDeps,
  deposit: ValidDeposit,
): Promise<TransferRefusal | undefined> {
  const { reader, accounts, deployment } = deps
  const { owner, nonce, subaccountId } = deposit.action
  const { depositModule, usdc } = deployment
  const [used, account, wallet] = await Promise.all([
    reader.nonceUsed(depositModule, owner, nonce),
    subaccountId === 0n ? undefined : readHeldAccount(accounts, subaccountId),
    reader.wallet(usdc, owner, depositModule),
  ])
  if (used) return nonceSpent('deposit')
  if (account !== undefined) {
    if (!account.inCustody || account.recordedOwner !== owner) {
      return notTransferOwner('deposit', subaccountId)
    }
    if (account.manager !== deps.perpManager) return notPerpAccount(subaccountId, deps.perpManager)
  }
  if (wallet.balance < deposit.amount) return balanceTooLow(wallet.balance, deposit.amount)
  const need = needOf(deps, deposit, wallet.allowance)
  return typeof need === 'object' ? need.refusal : undefined
}

/** Checks the permit only when the allowance is too low. */
function needOf(
  { clock }: DepositDeps,
  { amount, permit }: ValidDeposit,
  allowance: ValidDeposit['amount'],
): Need {
  if (allowance >= amount) return 'nothing'
  if (permit === undefined) return { refusal: allowanceTooLow(allowance, amount) }
  const refusal = refusePermit(permit, amount, clock.latestMs())
  return refusal === undefined ? 'preparation' : { refusal }
}

/** The intent id is derived from the call, so that a permit brought by several requests is sent once. */
function permitCall(
  { deployment }: DepositDeps,
  owner: Address,
  { value, deadline, signature }: SignedPermit,
): Preparation {
  const { usdc, depositModule } = deployment
  const data = encodePermit({ owner, spender: depositModule, value, deadline, signature })
  const intentId = `permit:${fingerprintOf(usdc, data)}`
  return { intentId, to: usdc, data, refusalOf: permitRefused }
}
