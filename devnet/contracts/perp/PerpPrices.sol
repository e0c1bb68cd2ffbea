// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {FixedPoint} from "../FixedPoint.sol";
import {IMarkedAsset, ISpotDiffFeed, ISpotFeed} from "../interfaces.sol";

/// Index, mark and impact prices of a perpetual, and the funding that follows from them. Rates are fractions per hour
/// with 18 decimals; a positive rate is paid by longs to shorts.
abstract contract PerpPrices is IMarkedAsset, Ownable {
    using FixedPoint for int256;
    using SafeCast for int256;
    using SafeCast for uint256;

    ISpotFeed public spotFeed;
    ISpotDiffFeed public perpFeed;
    ISpotDiffFeed public impactAskPriceFeed;
    ISpotDiffFeed public impactBidPriceFeed;

    int256 public maxRatePerHour;
    int256 public minRatePerHour;
    /// Hours over which funding pays a premium.
    int256 public fundingConvergencePeriod = 8e18;
    int256 public staticInterestRate;
    /// Funding that a long position of one contract has paid since the beginning.
    int256 public aggregatedFunding;
    uint256 public lastFundingPaidAt = block.timestamp;

    bool public isDisabled;
    int256 public frozenPerpPrice;

    event AggregatedFundingUpdated(int256 aggregatedFundingRate, int256 fundingRate, uint256 lastFundingPaidAt);
    event ConvergencePeriodUpdated(int256 fundingConvergencePeriod);
    event Disabled(int256 indexPrice, int256 aggregatedFunding);
    event ImpactFeedsUpdated(address askImpactFeed, address bidImpactFeed);
    event PerpFeedUpdated(address perpFeed);
    event RateBoundsUpdated(int256 maxAbsRatePerHour);
    event SpotFeedUpdated(address spotFeed);
    event StaticUnderlyingInterestRateUpdated(int256 premium);

    error PA_InvalidConvergencePeriod();
    error PA_InvalidImpactPrices();
    error PA_InvalidRateBounds();
    error PA_InvalidStaticInterestRate();

    // --- settings

    function setSpotFeed(ISpotFeed _spotFeed) external onlyOwner {
        spotFeed = _spotFeed;
        emit SpotFeedUpdated(address(_spotFeed));
    }

    function setPerpFeed(ISpotDiffFeed _perpFeed) external onlyOwner {
        perpFeed = _perpFeed;
        emit PerpFeedUpdated(address(_perpFeed));
    }

    function setImpactFeeds(ISpotDiffFeed _impactAskPriceFeed, ISpotDiffFeed _impactBidPriceFeed) external onlyOwner {
        impactAskPriceFeed = _impactAskPriceFeed;
        impactBidPriceFeed = _impactBidPriceFeed;
        emit ImpactFeedsUpdated(address(_impactAskPriceFeed), address(_impactBidPriceFeed));
    }

    function setRateBounds(int256 _maxAbsRatePerHour) external onlyOwner {
        if (_maxAbsRatePerHour < 0) revert PA_InvalidRateBounds();
        maxRatePerHour = _maxAbsRatePerHour;
        minRatePerHour = -_maxAbsRatePerHour;
        emit RateBoundsUpdated(_maxAbsRatePerHour);
    }

    function setConvergencePeriod(uint256 _fundingConvergencePeriod) external onlyOwner {
        if (_fundingConvergencePeriod == 0) revert PA_InvalidConvergencePeriod();
        fundingConvergencePeriod = _fundingConvergencePeriod.toInt256();
        emit ConvergencePeriodUpdated(fundingConvergencePeriod);
    }

    function setStaticInterestRate(int256 _staticInterestRate) external onlyOwner {
        if (_staticInterestRate < 0) revert PA_InvalidStaticInterestRate();
        staticInterestRate = _staticInterestRate;
        emit StaticUnderlyingInterestRateUpdated(_staticInterestRate);
    }

    /// Freezes the mark and ends funding for ever.
    function disable() external onlyOwner {
        _updateFunding();
        (uint256 mark,) = getPerpPrice();
        (uint256 index,) = getIndexPrice();
        frozenPerpPrice = mark.toInt256();
        isDisabled = true;
        emit Disabled(index.toInt256(), aggregatedFunding);
    }

    // --- prices

    function getIndexPrice() public view returns (uint256 price, uint256 confidence) {
        return isDisabled ? (uint256(0), FixedPoint.ONE) : spotFeed.getSpot();
    }

    function getPerpPrice() public view returns (uint256 price, uint256 confidence) {
        return isDisabled ? (frozenPerpPrice.toUint256(), FixedPoint.ONE) : perpFeed.getResult();
    }

    function getImpactPrices() public view returns (uint256 bid, uint256 ask) {
        (bid,) = impactBidPriceFeed.getResult();
        (ask,) = impactAskPriceFeed.getResult();
    }

    // --- funding

    function getFundingRate() external view returns (int256 fundingRate) {
        if (isDisabled) return 0;
        return _fundingRate(_index());
    }

    function _index() private view returns (int256) {
        (uint256 price,) = getIndexPrice();
        return price.toInt256();
    }

    function _fundingRate(int256 index) private view returns (int256) {
        (uint256 bid, uint256 ask) = getImpactPrices();
        if (bid > ask) revert PA_InvalidImpactPrices();
        int256 above = SignedMath.max(0, bid.toInt256() - index);
        int256 below = SignedMath.max(0, index - ask.toInt256());
        int256 premium = (above - below).div(index);
        int256 rate = premium.divRound(fundingConvergencePeriod) + staticInterestRate;
        return SignedMath.max(minRatePerHour, SignedMath.min(maxRatePerHour, rate));
    }

    /// Aggregated funding as of now, and the rate since the last update: the rate of now counts for all that time.
    function _fundingNow() internal view returns (int256 aggregated, int256 rate) {
        if (isDisabled || block.timestamp == lastFundingPaidAt) return (aggregatedFunding, 0);
        int256 index = _index();
        int256 elapsedSec = (block.timestamp - lastFundingPaidAt).toInt256();
        rate = _fundingRate(index);
        aggregated = aggregatedFunding + ((rate * elapsedSec) / 1 hours).mul(index);
    }

    function _updateFunding() internal {
        if (isDisabled || block.timestamp == lastFundingPaidAt) return;
        int256 rate;
        (aggregatedFunding, rate) = _fundingNow();
        lastFundingPaidAt = block.timestamp;
        emit AggregatedFundingUpdated(aggregatedFunding, rate, lastFundingPaidAt);
    }
}
