// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {AssetBalance} from "../interfaces.sol";
import {FutureMath} from "./FutureMath.sol";
import {ONE} from "./interfaces.sol";
import {VariationLedger} from "./VariationLedger.sol";

/// Margin of an account in USD: wrapped USDC at one, cNGN (wrapped, owed and not yet accrued together) at the index with
/// a factor, less a rate of the notional of its positions. A contract is worth 1,000 USD, so the notional needs no price.
/// Positions are valued as a whole portfolio, every series at its mark or all at the fresh index: initial margin is the
/// lower of the two surpluses, maintenance margin the one at the index.
abstract contract FuturesMargin is VariationLedger {
    using SafeCast for uint256;

    struct Rate {
        uint128 maintenance;
        uint128 initial;
    }

    /// What an index of little confidence costs initial margin.
    struct Contingency {
        uint128 threshold;
        uint128 factor;
    }

    /// What margin is computed from.
    struct Portfolio {
        uint256 usdc;
        /// Wrapped, owed and not yet accrued, with every series at its mark.
        int256 cngn;
        OpenPositions open;
    }

    /// A rate of the notional and a factor of cNGN, at 1e18.
    struct Terms {
        uint256 rate;
        uint256 factor;
    }

    Rate private requirement = Rate(0.07e18, 0.1e18);
    Rate private factor = Rate(0.95e18, 0.9e18);
    Contingency private contingency = Contingency(0.55e18, 0.4e18);

    event MarginRatesSet(uint128 maintenance, uint128 initial);
    event CngnFactorsSet(uint128 maintenance, uint128 initial);
    event OracleContingencySet(uint128 threshold, uint128 factor);

    error BLF_DataTooOld();
    error FM_InvalidRates();

    /// Sets the rates of the notional that an account needs, at once for all. 0 < maintenance <= initial < 1. The owner only.
    function setMarginRates(uint128 maintenance, uint128 initial) external onlyOwner {
        if (maintenance == 0 || maintenance > initial || initial >= ONE) revert FM_InvalidRates();
        requirement = Rate(maintenance, initial);
        emit MarginRatesSet(maintenance, initial);
    }

    /// Sets the share of its value that cNGN counts with, at once for all. 0 < initial <= maintenance <= 1, and initial above
    /// the factor of the contingency. The owner only.
    function setCngnFactors(uint128 maintenance, uint128 initial) external onlyOwner {
        if (initial <= contingency.factor || initial > maintenance || maintenance > ONE) revert FM_InvalidRates();
        factor = Rate(maintenance, initial);
        emit CngnFactorsSet(maintenance, initial);
    }

    /// Sets what an index costs initial margin whose confidence is below the threshold: factor * (1 - confidence) more of the
    /// notional, and as much less of the factor of cNGN. threshold <= 1, and factor below that of cNGN. The owner only.
    function setOracleContingency(uint128 threshold, uint128 share) external onlyOwner {
        if (threshold > ONE || share >= factor.initial) revert FM_InvalidRates();
        contingency = Contingency(threshold, share);
        emit OracleContingencySet(threshold, share);
    }

    /// Rates of the notional in force: maintenance and initial margin, at 1e18. The latter with what the confidence of the
    /// last known index adds.
    function marginRates() external view returns (uint256 mm, uint256 im) {
        (, uint256 confidence,) = futureAsset.indexDetail();
        return (requirement.maintenance, _initialTerms(confidence).rate);
    }

    /// Factors of cNGN in force, for maintenance and initial margin, at 1e18. The latter less what the confidence of the last
    /// known index takes.
    function cngnFactors() external view returns (uint256 mm, uint256 im) {
        (, uint256 confidence,) = futureAsset.indexDetail();
        return (factor.maintenance, _initialTerms(confidence).factor);
    }

    /// Surplus in USD at 1e18: over initial margin the lower of two portfolios, with every series at its mark and with all at
    /// the fresh index; over maintenance margin at the fresh index. Reverts with BLF_DataTooOld while the index is stale, unless
    /// the account has neither position nor cNGN, paid or owed.
    function getMargin(uint256 accountId, bool isInitial) public view returns (int256 margin) {
        Portfolio memory p = _portfolioOf(accountId);
        if (p.open.size == 0 && p.cngn == 0) return p.usdc.toInt256();
        (uint256 index, uint256 confidence) = _freshIndex();
        if (isInitial) return _initialSurplus(p, index, _initialTerms(confidence));
        return _maintenanceSurplus(p, index);
    }

    /// The index and its confidence.
    function _freshIndex() internal view returns (uint256 index, uint256 confidence) {
        bool isFresh;
        (index, confidence, isFresh) = futureAsset.indexDetail();
        if (!isFresh) revert BLF_DataTooOld();
    }

    function _portfolioOf(uint256 accountId) internal view returns (Portfolio memory p) {
        AssetBalance[] memory held = subAccounts.getAccountBalances(accountId);
        p.cngn = _ledgerOf(accountId);
        for (uint256 i = 0; i < held.length; i++) {
            int256 balance = held[i].balance;
            if (held[i].asset == wrappedUsdc) p.usdc = uint256(balance);
            else if (held[i].asset == wrappedCngn) p.cngn += balance;
            else if (held[i].asset == address(futureAsset)) {
                (uint256 price,, bool isSettled) = futureAsset.valuation(held[i].subId);
                p.cngn += _unaccrued(accountId, held[i].subId, balance, price);
                if (!isSettled) _addOpen(p.open, balance, price);
            }
        }
    }

    /// cNGN of the portfolio with all positions that are not settled at the index.
    function _cngnAtIndex(Portfolio memory p, uint256 index) internal pure returns (int256) {
        return p.cngn + _shift(p.open, index);
    }

    /// The lower of the surpluses at the marks and at the index. Both differ in cNGN alone.
    function _initialSurplus(Portfolio memory p, uint256 index, Terms memory terms) internal pure returns (int256) {
        return _surplus(p, SignedMath.min(p.cngn, _cngnAtIndex(p, index)), index, terms);
    }

    function _maintenanceSurplus(Portfolio memory p, uint256 index) internal view returns (int256) {
        return _surplus(p, _cngnAtIndex(p, index), index, Terms(requirement.maintenance, factor.maintenance));
    }

    /// Rate and factor of initial margin at a confidence of the index; what it costs is rounded against the account.
    function _initialTerms(uint256 confidence) internal view returns (Terms memory) {
        uint256 penalty;
        if (confidence < contingency.threshold) {
            penalty = Math.mulDiv(ONE - confidence, contingency.factor, ONE, Math.Rounding.Ceil);
        }
        return Terms(requirement.initial + penalty, factor.initial - penalty);
    }

    /// Surplus with this much cNGN; every division rounds against the account.
    function _surplus(Portfolio memory p, int256 cngn, uint256 index, Terms memory terms)
        private
        pure
        returns (int256 value)
    {
        value = p.usdc.toInt256() - FutureMath.requirement(p.open.size, terms.rate).toInt256();
        if (cngn != 0) value += FutureMath.cngnValue(cngn, index, terms.factor);
    }

    /// What the account owns in USD at full value, its positions at the index; at least zero, rounded down.
    function _equity(Portfolio memory p, uint256 index) internal pure returns (uint256) {
        int256 value = p.usdc.toInt256() + FutureMath.cngnValue(_cngnAtIndex(p, index), index, ONE);
        return value > 0 ? uint256(value) : 0;
    }

    /// Half of the maintenance requirement of the size: the highest bonus of its liquidation; rounded down.
    function _halfRequirement(uint256 size) internal view returns (uint256) {
        return FutureMath.requirement(size, requirement.maintenance) / 2;
    }
}
