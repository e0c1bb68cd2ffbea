// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {AssetAdjustment, AssetBalance} from "../interfaces.sol";
import {FutureMath} from "./FutureMath.sol";
import {FuturesMargin} from "./FuturesMargin.sol";
import {ONE, POSITION_STEP} from "./interfaces.sol";

/// What moves positions and debts without their owner: close-out after settlement, liquidation, the swap of a debt for
/// USDC, and the end of a debt that cannot be paid. All of it works while adjustments are paused.
abstract contract FuturesLiquidation is FuturesMargin {
    using SafeCast for int256;
    using SafeCast for uint256;

    /// A position that is taken over, with its mark and the index.
    struct Takeover {
        int256 position;
        uint256 mark;
        uint256 index;
    }

    /// What the payer of a liquidatable account's debt receives beyond the index.
    uint256 public constant CURE_BONUS = 0.02e18;

    /// Pays for losses before claims are cut; 0 without one. Should hold wrapped cNGN only.
    uint256 public insuranceAccount;

    event InsuranceAccountSet(uint256 accountId);
    event PositionClosed(
        uint256 indexed account, uint256 indexed subId, int256 contracts, uint256 price, int256 vm
    );
    event PositionLiquidated(
        uint256 indexed account, uint256 indexed subId, uint256 indexed by, int256 contracts, uint256 price, uint256 bonus
    );
    event DebtCured(uint256 indexed account, uint256 indexed by, uint256 cngn, uint256 usdc);

    error BM_InvalidBidPortion();
    error FM_AboveMaintenance();
    error FM_NoDebt();
    error FM_NotAccountOwner();
    error FM_NotBankrupt();
    error FM_NotEnoughCngn();
    error FM_NotSettled();
    error FM_SameAccount();
    error FM_Settled();
    error SRM_PortfolioBelowMargin();

    /// Names the account that pays for losses, 0 for none; the owner only. Its wrapped cNGN pays without the consent of the
    /// account's own owner, and without a look at its margin. It also buys the USDC of bankrupt accounts at the index, on debt
    /// where its cNGN does not reach.
    function setInsuranceAccount(uint256 accountId) external onlyOwner {
        if (accountId == poolAccount) revert FM_SameAccount();
        if (accountId != 0) _requireManaged(accountId);
        insuranceAccount = accountId;
        emit InsuranceAccountSet(accountId);
    }

    /// Closes positions of a settled series at its settlement price and pays the final variation margin. Any caller;
    /// accounts without a position are passed over.
    function closeOut(uint256 subId, uint256[] calldata ids) external {
        (uint256 price,, bool isSettled) = futureAsset.valuation(subId);
        if (!isSettled) revert FM_NotSettled();
        for (uint256 i = 0; i < ids.length; i++) {
            uint256 id = ids[i];
            _requireManaged(id);
            int256 position = subAccounts.getBalance(id, address(futureAsset), subId);
            if (position == 0) continue;
            int256 vm = _unaccrued(id, subId, position, price);
            subAccounts.managerAdjustment(
                AssetAdjustment(id, address(futureAsset), subId, -position, bytes32(0))
            );
            _settle(id);
            emit PositionClosed(id, subId, position, price, vm);
        }
    }

    /// Moves `portion` (1e18 = all) of a position of an account below maintenance margin to the account `by`, at the
    /// fresh index; what the index differs from the mark is booked as a fill's price is. The caller owns the NFT of `by`. No
    /// more is taken than restores initial margin. `by` receives a bonus of half the maintenance requirement of what it
    /// takes, at most the same share of what the account owns, in USDC and then in cNGN at the index; it must have initial
    /// margin afterwards. Returns the contracts taken, positive for a long, and the bonus in USD. Portions are rounded down to
    /// whole steps, the cNGN of the bonus is rounded down.
    function liquidate(uint256 id, uint256 subId, uint256 by, uint256 portion)
        external
        returns (int256 contracts, uint256 bonus)
    {
        Takeover memory t;
        bool isSettled;
        (t.mark,, isSettled) = futureAsset.valuation(subId);
        if (isSettled) revert FM_Settled();
        uint256 confidence;
        (t.index, confidence) = _beginRescue(id, by);
        Portfolio memory p = _portfolioOf(id);
        if (_maintenanceSurplus(p, t.index) >= 0) revert FM_AboveMaintenance();

        t.position = subAccounts.getBalance(id, address(futureAsset), subId);
        uint256 size = _portionOf(t.position, portion);
        size = Math.min(size, _restoringSize(p, t, _initialTerms(confidence)));
        contracts = _signed(t.position, size);
        bonus = _bonusOf(p, size, t.index);
        (uint256 usdc, uint256 cngn) = _splitBonus(p, bonus, t.index);
        _movePosition(address(futureAsset), subId, id, by, contracts);
        (Book memory book,,) = _bookOf(subId);
        _transferLedger(id, by, cngn.toInt256() - FutureMath.variation(contracts, book.price, t.index));
        _move(wrappedUsdc, id, by, usdc.toInt256());

        _settle(id);
        _settle(by);
        if (getMargin(by, true) < 0) revert SRM_PortfolioBelowMargin();
        emit PositionLiquidated(id, subId, by, contracts, t.index, bonus);
    }

    /// Pays up to `cngnAmount` of wrapped cNGN of `by` into the ledger of an account that owes cNGN with its positions at
    /// the fresh index, for its USDC at the index; no more than it owes so. The caller owns the NFT of `by`, which must have
    /// initial margin afterwards. An account below maintenance margin pays a bonus of CURE_BONUS, at most what it owns; any
    /// other pays none. The USDC is rounded down, the cNGN for the last of the USDC up. Returns what changed hands.
    function cure(uint256 id, uint256 by, uint256 cngnAmount) external returns (uint256 cngn, uint256 usdc) {
        (uint256 index,) = _beginRescue(id, by);
        Portfolio memory p = _portfolioOf(id);
        int256 owned = _cngnAtIndex(p, index);
        if (owned >= 0) revert FM_NoDebt();
        uint256 bonus = _maintenanceSurplus(p, index) < 0 ? _equity(p, index) : 0;
        cngn = Math.min(cngnAmount, uint256(-owned));
        cngn = Math.min(cngn, _priceOf(p.usdc, bonus, index));
        usdc = Math.mulDiv(cngn, ONE, index);
        usdc += Math.min(bonus, Math.mulDiv(usdc, CURE_BONUS, ONE));
        usdc = Math.min(p.usdc, usdc);
        _transferLedger(by, id, cngn.toInt256());
        _move(wrappedUsdc, id, by, usdc.toInt256());
        _settle(by);
        if (_ledgerOf(by) < 0) revert FM_NotEnoughCngn();
        if (getMargin(by, true) < 0) revert SRM_PortfolioBelowMargin();
        emit DebtCured(id, by, cngn, usdc);
    }

    /// Ends the debt of an account without positions whose USDC is worth less. Its cNGN pays first, then its USDC at the fresh
    /// index: the insurance account takes it and owes the cNGN in its place; without one, or from itself, the USDC stays and
    /// secures as much of the debt. The rest the insurance account pays, and what it cannot, all claims bear in equal
    /// proportion, for which all positions must be accrued, near the index (accrueAtIndex). Any caller. The index matters only where there is USDC. What the
    /// USDC pays is rounded down, against the claims by less than one unit.
    function coverLoss(uint256 id) external {
        _requireManaged(id);
        _settle(id);
        int256 ledger = _ledgerOf(id);
        if (ledger >= 0) revert FM_NoDebt();
        if (_holdsFutures(id)) revert FM_NotBankrupt();
        uint256 usdc = _usdcOf(id);
        uint256 paid;
        if (usdc > 0) {
            (uint256 index,) = _freshIndex();
            paid = Math.mulDiv(usdc, index, ONE);
        }
        if (paid >= uint256(-ledger)) revert FM_NotBankrupt();
        uint256 loss = uint256(-ledger) - paid;
        uint256 insurance = insuranceAccount;
        if (usdc > 0 && insurance != 0 && insurance != id) {
            _transferLedger(insurance, id, paid.toInt256());
            _move(wrappedUsdc, id, insurance, usdc.toInt256());
            _settle(insurance);
            emit DebtCured(id, insurance, paid, usdc);
        }
        _shareLoss(id, loss, insurance);
    }

    /// Checks both accounts and the caller's right to `by`, settles both, and returns the index, which must be fresh.
    function _beginRescue(uint256 id, uint256 by) private returns (uint256 index, uint256 confidence) {
        if (id == by) revert FM_SameAccount();
        _requireManaged(id);
        _requireManaged(by);
        if (subAccounts.ownerOf(by) != msg.sender) revert FM_NotAccountOwner();
        _settle(id);
        _settle(by);
        return _freshIndex();
    }

    function _portionOf(int256 position, uint256 portion) private pure returns (uint256 size) {
        if (portion > ONE) revert BM_InvalidBidPortion();
        size = Math.mulDiv(SignedMath.abs(position), portion, ONE);
        size -= size % POSITION_STEP;
        if (size == 0) revert BM_InvalidBidPortion();
    }

    function _signed(int256 position, uint256 size) private pure returns (int256) {
        return position > 0 ? size.toInt256() : -size.toInt256();
    }

    /// The smallest size, in whole steps up to the position, whose liquidation restores initial margin; all of it where none
    /// does.
    function _restoringSize(Portfolio memory p, Takeover memory t, Terms memory terms)
        private
        view
        returns (uint256)
    {
        uint256 low = 0;
        uint256 high = SignedMath.abs(t.position) / POSITION_STEP;
        while (low + 1 < high) {
            uint256 middle = (low + high) / 2;
            if (_initialSurplus(_after(p, t, middle * POSITION_STEP), t.index, terms) >= 0) high = middle;
            else low = middle;
        }
        return high * POSITION_STEP;
    }

    /// The portfolio after a liquidation of this size at the index.
    function _after(Portfolio memory p, Takeover memory t, uint256 size)
        private
        view
        returns (Portfolio memory left)
    {
        (uint256 usdc, uint256 cngn) = _splitBonus(p, _bonusOf(p, size, t.index), t.index);
        int256 taken = _signed(t.position, size);
        left.usdc = p.usdc - usdc;
        left.cngn = p.cngn + FutureMath.variation(taken, t.mark, t.index) - cngn.toInt256();
        left.open.size = p.open.size - size;
        int256 steps = taken / POSITION_STEP.toInt256();
        left.open.steps = p.open.steps - steps;
        left.open.worth = p.open.worth - steps * t.mark.toInt256();
    }

    /// At most the share of what the account owns that the size is of all its positions, so that who takes a part does not
    /// take what the rest would pay.
    function _bonusOf(Portfolio memory p, uint256 size, uint256 index) private view returns (uint256) {
        return Math.min(_halfRequirement(size), Math.mulDiv(_equity(p, index), size, p.open.size));
    }

    /// USDC first, the rest in cNGN at the index, rounded down.
    function _splitBonus(Portfolio memory p, uint256 bonus, uint256 index)
        private
        pure
        returns (uint256 usdc, uint256 cngn)
    {
        usdc = Math.min(bonus, p.usdc);
        cngn = Math.mulDiv(bonus - usdc, index, ONE);
    }

    /// The cNGN that buys so much USDC where the bonus is at most `limit`; rounded up.
    function _priceOf(uint256 usdc, uint256 limit, uint256 index) private pure returns (uint256) {
        uint256 whole = Math.mulDiv(usdc, index, ONE + CURE_BONUS, Math.Rounding.Ceil);
        if (limit >= usdc) return whole;
        return Math.max(whole, Math.mulDiv(usdc - limit, index, ONE, Math.Rounding.Ceil));
    }

    function _transferLedger(uint256 from, uint256 to, int256 cngn) private {
        _credit(from, -cngn);
        _credit(to, cngn);
    }

    function _holdsFutures(uint256 id) internal view returns (bool) {
        AssetBalance[] memory held = subAccounts.getAccountBalances(id);
        for (uint256 i = 0; i < held.length; i++) {
            if (held[i].asset == address(futureAsset)) return true;
        }
        return false;
    }
}
