// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {FixedPoint} from "../FixedPoint.sol";

/// What a bidder pays, or is paid, for all of an account at some time of its auction, and how much of it is for sale.
abstract contract AuctionPrices is Ownable {
    using FixedPoint for int256;
    using FixedPoint for uint256;
    using SafeCast for int256;
    using SafeCast for uint256;

    /// Percentages are fractions with 18 decimals, lengths are seconds.
    struct AuctionParams {
        uint256 startingMtMPercentage;
        uint256 fastAuctionCutoffPercentage;
        uint256 fastAuctionLength;
        uint256 slowAuctionLength;
        uint256 insolventAuctionLength;
        uint256 liquidatorFeeRate;
        uint256 bufferMarginPercentage;
    }

    AuctionParams internal auctionParams;
    /// An account worth less is for sale as a whole.
    int256 public mtmCutoff;

    event AuctionParamsSet(AuctionParams params);
    event MtmCutOffSet(int256 mtmCutoff);

    error DA_InvalidParameter();
    error DA_ReservedCashGreaterThanMtM();

    function setAuctionParams(AuctionParams calldata params) external onlyOwner {
        if (
            params.startingMtMPercentage > FixedPoint.ONE
                || params.fastAuctionCutoffPercentage > params.startingMtMPercentage
                || params.liquidatorFeeRate > FixedPoint.ONE / 10 || params.bufferMarginPercentage > 4 * FixedPoint.ONE
        ) revert DA_InvalidParameter();
        auctionParams = params;
        emit AuctionParamsSet(params);
    }

    function setMtmCutoff(int256 mtmCutoff_) external onlyOwner {
        if (mtmCutoff_ > 1_000e18) revert DA_InvalidParameter();
        mtmCutoff = mtmCutoff_;
        emit MtmCutOffSet(mtmCutoff_);
    }

    function getAuctionParams() external view returns (AuctionParams memory) {
        return auctionParams;
    }

    /// Falls in a line from the start to the cutoff during the fast auction, and from there to zero during the slow one.
    function getDiscountPercentage(uint256 startTime, uint256 current) public view returns (uint256) {
        AuctionParams memory params = auctionParams;
        uint256 elapsedSec = current - startTime;
        if (elapsedSec < params.fastAuctionLength) {
            uint256 fall = params.startingMtMPercentage - params.fastAuctionCutoffPercentage;
            return params.startingMtMPercentage - (fall * elapsedSec) / params.fastAuctionLength;
        }
        uint256 slowSec = elapsedSec - params.fastAuctionLength;
        if (slowSec >= params.slowAuctionLength) return 0;
        uint256 cutoff = params.fastAuctionCutoffPercentage;
        return cutoff - cutoff.mul(slowSec).div(params.slowAuctionLength);
    }

    function _isSolventOver(uint256 startTime) internal view returns (bool) {
        return block.timestamp >= startTime + auctionParams.fastAuctionLength + auctionParams.slowAuctionLength;
    }

    /// Margin at which a liquidation ends: the maintenance margin and a share of its distance to the market value more.
    function _bufferMargin(int256 maintenanceMargin, int256 mtm) internal view returns (int256) {
        return maintenanceMargin + (maintenanceMargin - mtm).mul(auctionParams.bufferMarginPercentage.toInt256());
    }

    /// Price of what the account holds besides the cash of earlier bids; zero once the solvent auction is over.
    function _solventPrice(uint256 startTime, int256 mtm, uint256 reservedCash) internal view returns (int256) {
        if (_isSolventOver(startTime)) return 0;
        int256 reserved = reservedCash.toInt256();
        if (reserved > mtm) revert DA_ReservedCashGreaterThanMtM();
        return (mtm - reserved).mul(getDiscountPercentage(startTime, block.timestamp).toInt256());
    }

    /// A price of zero or less: from the market value to the maintenance margin.
    function _insolventPrice(uint256 startTime, int256 maintenanceMargin, int256 mtm) internal view returns (int256) {
        if (maintenanceMargin >= 0) return 0;
        uint256 elapsedSec = block.timestamp - startTime;
        uint256 length = auctionParams.insolventAuctionLength;
        if (elapsedSec >= length) return maintenanceMargin;
        int256 start = SignedMath.min(mtm, 0);
        return ((maintenanceMargin - start) * elapsedSec.toInt256()) / length.toInt256() + start;
    }

    /// The portion whose sale at the discount brings the account back to its buffer margin.
    function _maxProportion(int256 mtm, int256 bufferMargin, uint256 discount, uint256 reservedCash)
        internal
        view
        returns (uint256)
    {
        if (mtm < mtmCutoff) return FixedPoint.ONE;
        int256 short = SignedMath.min(bufferMargin, 0);
        int256 whole = short - mtm.mul(discount.toInt256()) - reservedCash.mul(FixedPoint.ONE - discount).toInt256();
        return short.div(whole).toUint256();
    }

    function _liquidationFee(int256 mtm, int256 bufferMargin) internal view returns (uint256) {
        uint256 portion = _maxProportion(mtm, bufferMargin, FixedPoint.ONE, 0);
        return portion.mul(SignedMath.abs(mtm)).mul(auctionParams.liquidatorFeeRate);
    }
}
