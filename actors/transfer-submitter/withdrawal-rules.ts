import type { Deployment } from '../../chain/reads/deployment.js'
import {
  nonceSpent,
  notTransferOwner,
  transferNotInCustody,
  type TransferRefusal,
} from '../../core/entry/transfer-refusals.js'
import { validateWithdrawal, type ValidWithdrawal } from '../../core/entry/validate-transfer.js'
import { readHeldAccount, type SubmitterChain, type TransferRules } from './rules.js'

export const WITHDRAWALS_PER_MINUTE = 5

export interface WithdrawalDeps extends Pick<SubmitterChain, 'reader' | 'accounts'> {
  readonly deployment: Deployment
}

/** The escrow pays out before it checks the account, so a shortage may show as a revert of the token. */
const TOKEN_SHORT =
  /^(ERC20InsufficientBalance|Error: ERC20: transfer amount exceeds balance|Panic\(0x11\)|SafeCastOverflowedUintToInt)$/
const RACES = /^(BM_NonceAlreadyUsed|OV_InvalidActionOwner|ERC721\w+)$/

/** The rules of a withdrawal out of an account in Matching's custody (TRA-036 to TRA-041). */
export function createWithdrawalRules(deps: WithdrawalDeps): TransferRules<ValidWithdrawal> {
  const { withdrawalModule, wrappedUsdc, wrappedCngn, cashAsset } = deps.deployment
  const withdrawable = [wrappedUsdc, wrappedCngn, cashAsset]
  return {
    kind: 'withdrawal',
    module: withdrawalModule,
    contracts: { withdrawalModule, wrappedUsdc, wrappedCngn, cashAsset },
    perMinute: WITHDRAWALS_PER_MINUTE,
    validate: (body, nowMs) => validateWithdrawal(body, { withdrawalModule, withdrawable, nowMs }),
    preCheck: (withdrawal) => preCheck(deps, withdrawal),
    need: () => Promise.resolve('nothing'),
    preparation: () => undefined,
    isRace: (revert) => RACES.test(revert),
    revertName: (asset, revert) => {
      if (!TOKEN_SHORT.test(revert)) return revert
      return asset === cashAsset ? 'SRM_NoNegativeCash' : 'WERC_CannotBeNegative'
    },
  }
}

async function preCheck(
  { reader, accounts, deployment }: WithdrawalDeps,
  { action }: ValidWithdrawal,
): Promise<TransferRefusal | undefined> {
  const { owner, nonce, subaccountId } = action
  const [account, used] = await Promise.all([
    readHeldAccount(accounts, subaccountId),
    reader.nonceUsed(deployment.withdrawalModule, owner, nonce),
  ])
  if (!account.inCustody) return transferNotInCustody(subaccountId)
  if (account.recordedOwner !== owner) return notTransferOwner('withdrawal', subaccountId)
  return used ? nonceSpent('withdrawal') : undefined
}
