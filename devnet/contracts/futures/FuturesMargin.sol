// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {AssetBalance} from "../interfaces.sol";
import {FutureMath} from "./FutureMath.sol";
import {ONE} from "./interfaces.sol";
import {VariationLedger} from "./VariationLedger.sol";

/// Margin of an account in USD: wrapped USDC at one, cNGN (wrapped, owed and not yet accrued together) at the index with
/// a factor, less a rate of the notional of its positions. A contract is worth 1,000 USD, so the notional needs no price.
abstract contract FuturesMargin is VariationLedger {
    using SafeCast for uint256;

    struct Rate {
        uint128 maintenance;
        uint128 initial;
    }

    /// What margin is computed from.
    struct Portfolio {
        uint256 usdc;
        int256 cngn;
        /// Sum of the sizes of all positions that are not settled, in contracts at 1e18.
        uint256 size;
    }

    enum Prices {
        Mark,
        /// Positions that are not settled at the index.
        Index
    }

    Rate private requirement = Rate(0.07e18, 0.1e18);
    Rate private factor = Rate(0.95e18, 0.9e18);

    event MarginRatesSet(uint128 maintenance, uint128 initial);
    event CngnFactorsSet(uint128 maintenance, uint128 initial);

    error FM_InvalidRates();

    /// Sets the rates of the notional that an account needs, at once for all. 0 < maintenance <= initial < 1. The owner only.
    function setMarginRates(uint128 maintenance, uint128 initial) external onlyOwner {
        if (maintenance == 0 || maintenance > initial || initial >= ONE) revert FM_InvalidRates();
        requirement = Rate(maintenance, initial);
        emit MarginRatesSet(maintenance, initial);
    }

    /// Sets the share of its value that cNGN counts with, at once for all. 0 < initial <= maintenance <= 1. The owner only.
    function setCngnFactors(uint128 maintenance, uint128 initial) external onlyOwner {
        if (initial == 0 || initial > maintenance || maintenance > ONE) revert FM_InvalidRates();
        factor = Rate(maintenance, initial);
        emit CngnFactorsSet(maintenance, initial);
    }

    /// Rates of the notional: maintenance and initial margin, at 1e18.
    function marginRates() external view returns (uint256 mm, uint256 im) {
        return (requirement.maintenance, requirement.initial);
    }

    /// Factors of cNGN for maintenance and initial margin, at 1e18.
    function cngnFactors() external view returns (uint256 mm, uint256 im) {
        return (factor.maintenance, factor.initial);
    }

    /// Surplus over initial or maintenance margin in USD at 1e18, with positions at the mark. Reverts with
    /// BLF_DataTooOld when it depends on the index and that is stale.
    function getMargin(uint256 accountId, bool isInitial) public view returns (int256 margin) {
        Portfolio memory p = _portfolioOf(accountId, Prices.Mark, 0);
        return _surplus(p, p.cngn == 0 ? 0 : futureAsset.getIndexPrice(), isInitial);
    }

    /// The account's portfolio. `index` is used only where positions are priced with it.
    function _portfolioOf(uint256 accountId, Prices prices, uint256 index)
        internal
        view
        returns (Portfolio memory p)
    {
        AssetBalance[] memory held = subAccounts.getAccountBalances(accountId);
        p.cngn = _ledgerOf(accountId);
        for (uint256 i = 0; i < held.length; i++) {
            int256 balance = held[i].balance;
            if (held[i].asset == wrappedUsdc) p.usdc = uint256(balance);
            else if (held[i].asset == wrappedCngn) p.cngn += balance;
            else if (held[i].asset == address(futureAsset)) {
                (uint256 price,, bool isSettled) = futureAsset.valuation(held[i].subId);
                if (!isSettled) p.size += SignedMath.abs(balance);
                bool atIndex = prices == Prices.Index && !isSettled;
                p.cngn += _unaccrued(accountId, held[i].subId, balance, atIndex ? index : price);
            }
        }
    }

    /// Surplus of a portfolio; every division rounds against the account.
    function _surplus(Portfolio memory p, uint256 index, bool isInitial) internal view returns (int256) {
        int256 value = p.usdc.toInt256() - FutureMath.requirement(p.size, _rate(requirement, isInitial)).toInt256();
        if (p.cngn == 0) return value;
        return value + FutureMath.cngnValue(p.cngn, index, _rate(factor, isInitial));
    }

    /// What the account owns in USD at full value, at least zero; rounded down.
    function _equity(Portfolio memory p, uint256 index) internal pure returns (uint256) {
        int256 value = p.usdc.toInt256() + FutureMath.cngnValue(p.cngn, index, ONE);
        return value > 0 ? uint256(value) : 0;
    }

    /// Below maintenance at the mark and at the index, so that neither a stale mark nor a spike of the index suffices.
    function _isLiquidatable(uint256 accountId, uint256 index) internal view returns (bool) {
        if (_surplus(_portfolioOf(accountId, Prices.Mark, index), index, false) >= 0) return false;
        return _surplus(_portfolioOf(accountId, Prices.Index, index), index, false) < 0;
    }

    /// Half of the maintenance requirement of the size: the highest bonus of its liquidation; rounded down.
    function _halfRequirement(uint256 size) internal view returns (uint256) {
        return FutureMath.requirement(size, requirement.maintenance) / 2;
    }

    function _rate(Rate storage rate, bool isInitial) private view returns (uint256) {
        return isInitial ? rate.initial : rate.maintenance;
    }
}
