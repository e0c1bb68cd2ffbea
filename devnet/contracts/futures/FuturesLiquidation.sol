// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {AssetAdjustment, AssetBalance} from "../interfaces.sol";
import {FuturesMargin} from "./FuturesMargin.sol";
import {ONE, POSITION_STEP} from "./interfaces.sol";

/// What moves positions and debts without their owner: close-out after settlement, liquidation, the swap of a debt for
/// USDC, and the end of a debt that cannot be paid. All of it works while adjustments are paused.
abstract contract FuturesLiquidation is FuturesMargin {
    using SafeCast for int256;
    using SafeCast for uint256;

    /// What the payer of a liquidatable account's debt receives beyond the index.
    uint256 public constant CURE_BONUS = 0.02e18;

    /// Pays for losses before claims are cut; 0 without one. Should hold wrapped cNGN only.
    uint256 public insuranceAccount;

    event InsuranceAccountSet(uint256 accountId);
    event PositionClosed(
        uint256 indexed account, uint256 indexed subId, int256 contracts, uint256 price, int256 vm
    );
    event PositionLiquidated(
        uint256 indexed account, uint256 indexed subId, uint256 indexed by, int256 contracts, uint256 mark, uint256 bonus
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
    /// account's own owner, and without a look at its margin.
    function setInsuranceAccount(uint256 accountId) external onlyOwner {
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
    /// mark. The caller owns the NFT of `by`. No more is taken than restores initial margin. `by` receives a bonus of
    /// half the maintenance requirement of what it takes, at most what the account owns, in USDC and then in cNGN at the
    /// index; it must have initial margin afterwards. Returns the contracts taken, positive for a long, and the bonus in
    /// USD. Portions are rounded down to whole steps, the cNGN of the bonus is rounded down.
    function liquidate(uint256 id, uint256 subId, uint256 by, uint256 portion)
        external
        returns (int256 contracts, uint256 bonus)
    {
        (uint256 mark,, bool isSettled) = futureAsset.valuation(subId);
        if (isSettled) revert FM_Settled();
        uint256 index = _beginRescue(id, by);
        if (!_isLiquidatable(id, index)) revert FM_AboveMaintenance();

        int256 position = subAccounts.getBalance(id, address(futureAsset), subId);
        Portfolio memory before = _portfolioOf(id, Prices.Mark, index);
        uint256 size = Math.min(
            _portionOf(position, portion), _restoringSize(before, SignedMath.abs(position), index)
        );
        contracts = position > 0 ? size.toInt256() : -size.toInt256();
        _movePosition(address(futureAsset), subId, id, by, contracts);
        bonus = _bonusOf(before, size, index);
        _payBonus(id, by, before, bonus, index);

        _settle(id);
        _settle(by);
        if (getMargin(by, true) < 0) revert SRM_PortfolioBelowMargin();
        emit PositionLiquidated(id, subId, by, contracts, mark, bonus);
    }

    /// Pays up to `cngnAmount` of wrapped cNGN of `by` into the debt of an account, for its USDC at the index. The caller
    /// owns the NFT of `by`. An account below maintenance margin pays a bonus of CURE_BONUS; an account without positions
    /// can be cured at any time, without a bonus while it is above maintenance. The USDC is rounded down, the cNGN for
    /// the last of the USDC up. Returns what changed hands.
    function cure(uint256 id, uint256 by, uint256 cngnAmount) external returns (uint256 cngn, uint256 usdc) {
        uint256 index = _beginRescue(id, by);
        int256 ledger = _ledgerOf(id);
        if (ledger >= 0) revert FM_NoDebt();
        uint256 rate = _cureRate(id, index);
        uint256 available = _usdcOf(id);
        cngn = Math.min(cngnAmount, uint256(-ledger));
        cngn = Math.min(cngn, Math.mulDiv(available, index, rate, Math.Rounding.Ceil));
        usdc = Math.min(available, Math.mulDiv(cngn, rate, index));
        _transferLedger(by, id, cngn);
        _move(wrappedUsdc, id, by, usdc.toInt256());
        _settle(by);
        if (_ledgerOf(by) < 0) revert FM_NotEnoughCngn();
        emit DebtCured(id, by, cngn, usdc);
    }

    /// Ends the debt of an account that has no position, no USDC and no cNGN. The insurance account pays first; claims
    /// bear the rest in equal proportion, for which all positions must be accrued. Any caller.
    function coverLoss(uint256 id) external {
        _requireManaged(id);
        _settle(id);
        if (_ledgerOf(id) >= 0) revert FM_NoDebt();
        if (_usdcOf(id) != 0 || _holdsFutures(id)) revert FM_NotBankrupt();
        _shareLoss(id, insuranceAccount);
    }

    /// Checks both accounts and the caller's right to `by`, settles both, and returns the index, which must be fresh.
    function _beginRescue(uint256 id, uint256 by) private returns (uint256 index) {
        if (id == by) revert FM_SameAccount();
        _requireManaged(id);
        _requireManaged(by);
        if (subAccounts.ownerOf(by) != msg.sender) revert FM_NotAccountOwner();
        _settle(id);
        _settle(by);
        return futureAsset.getIndexPrice();
    }

    function _portionOf(int256 position, uint256 portion) private pure returns (uint256 size) {
        if (portion > ONE) revert BM_InvalidBidPortion();
        size = Math.mulDiv(SignedMath.abs(position), portion, ONE);
        size -= size % POSITION_STEP;
        if (size == 0) revert BM_InvalidBidPortion();
    }

    /// The smallest size, in whole steps up to `max`, whose liquidation restores initial margin; `max` where none does.
    function _restoringSize(Portfolio memory p, uint256 max, uint256 index) private view returns (uint256) {
        uint256 low = 0;
        uint256 high = max / POSITION_STEP;
        while (low + 1 < high) {
            uint256 middle = (low + high) / 2;
            if (_surplusAfter(p, middle * POSITION_STEP, index) >= 0) high = middle;
            else low = middle;
        }
        return high * POSITION_STEP;
    }

    /// Surplus over initial margin after a liquidation of this size.
    function _surplusAfter(Portfolio memory p, uint256 size, uint256 index) private view returns (int256) {
        uint256 bonus = _bonusOf(p, size, index);
        (uint256 usdc, uint256 cngn) = _splitBonus(p, bonus, index);
        return _surplus(Portfolio(p.usdc - usdc, p.cngn - cngn.toInt256(), p.size - size), index, true);
    }

    function _bonusOf(Portfolio memory p, uint256 size, uint256 index) private view returns (uint256) {
        return Math.min(_halfRequirement(size), _equity(p, index));
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

    function _payBonus(uint256 id, uint256 by, Portfolio memory p, uint256 bonus, uint256 index) private {
        (uint256 usdc, uint256 cngn) = _splitBonus(p, bonus, index);
        _move(wrappedUsdc, id, by, usdc.toInt256());
        _transferLedger(id, by, cngn);
    }

    function _transferLedger(uint256 from, uint256 to, uint256 cngn) private {
        _credit(from, -cngn.toInt256());
        _credit(to, cngn.toInt256());
    }

    /// USDC for cNGN worth one USD, at 1e18.
    function _cureRate(uint256 id, uint256 index) private view returns (uint256) {
        if (_isLiquidatable(id, index)) return ONE + CURE_BONUS;
        if (_holdsFutures(id)) revert FM_AboveMaintenance();
        return ONE;
    }

    function _holdsFutures(uint256 id) internal view returns (bool) {
        AssetBalance[] memory held = subAccounts.getAccountBalances(id);
        for (uint256 i = 0; i < held.length; i++) {
            if (held[i].asset == address(futureAsset)) return true;
        }
        return false;
    }
}
