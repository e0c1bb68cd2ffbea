// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Math} from "@openzeppelin/contracts/utils/math/Math.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {BaseManager} from "../BaseManager.sol";
import {FixedPoint} from "../FixedPoint.sol";
import {AssetBalance, ILiquidatableManager, IPerpAsset, ISpotFeed} from "../interfaces.sol";

/// What an account of cash, perpetuals and base assets is worth, and how much of that must stay. All amounts are US
/// dollars with 18 decimals, all rates fractions with 18 decimals.
abstract contract MarginRules is ILiquidatableManager, BaseManager {
    using FixedPoint for int256;
    using FixedPoint for uint256;
    using SafeCast for uint256;

    struct PerpMarginRequirements {
        uint256 mmPerpReq;
        uint256 imPerpReq;
    }

    struct BaseMarginParams {
        uint256 marginFactor;
        uint256 IMScale;
    }

    struct OracleContingencyParams {
        uint256 perpThreshold;
        uint256 optionThreshold;
        uint256 baseThreshold;
        uint256 OCFactor;
    }

    struct DepegParams {
        uint256 threshold;
        uint256 depegFactor;
    }

    uint8 internal constant PERPETUAL = 2;
    uint8 internal constant BASE = 3;

    ISpotFeed public stableFeed;
    DepegParams public depegParams;
    mapping(uint256 marketId => ISpotFeed) private spotFeeds;
    mapping(uint256 marketId => PerpMarginRequirements) public perpMarginRequirements;
    mapping(uint256 marketId => BaseMarginParams) public baseMarginParams;
    mapping(uint256 marketId => OracleContingencyParams) public oracleContingencyParams;

    event BaseMarginParamsSet(uint256 marketId, uint256 baseAssetMarginFactor, uint256 baseAssetIMScale);
    event DepegParametersSet(uint256 threshold, uint256 depegFactor);
    event OracleContingencySet(
        uint256 perpThreshold, uint256 optionThreshold, uint256 baseThreshold, uint256 OCFactor
    );
    event OraclesSet(uint256 marketId, address spotOracle, address forwardOracle, address volFeed);
    event PerpMarginRequirementsSet(uint256 marketId, uint256 perpMMRequirement, uint256 perpIMRequirement);
    event StableFeedUpdated(address stableFeed);

    error SRM_InvalidBaseDiscountFactor();
    error SRM_InvalidDepegParams();
    error SRM_InvalidOracleContingencyParams();
    error SRM_InvalidPerpMarginParams();

    // --- settings

    /// The other two feeds serve options, which do not exist here.
    function setOraclesForMarket(uint256 marketId, ISpotFeed spotFeed, address forwardFeed, address volFeed)
        external
        onlyOwner
        existingMarket(marketId)
    {
        spotFeeds[marketId] = spotFeed;
        emit OraclesSet(marketId, address(spotFeed), forwardFeed, volFeed);
    }

    function setPerpMarginRequirements(uint256 marketId, uint256 _mmPerpReq, uint256 _imPerpReq)
        external
        onlyOwner
        existingMarket(marketId)
    {
        if (_mmPerpReq == 0 || _mmPerpReq > _imPerpReq || _imPerpReq >= FixedPoint.ONE) {
            revert SRM_InvalidPerpMarginParams();
        }
        perpMarginRequirements[marketId] = PerpMarginRequirements(_mmPerpReq, _imPerpReq);
        emit PerpMarginRequirementsSet(marketId, _mmPerpReq, _imPerpReq);
    }

    function setBaseAssetMarginFactor(uint256 marketId, uint256 marginFactor, uint256 initialMarginMultiplier)
        external
        onlyOwner
        existingMarket(marketId)
    {
        if (marginFactor > FixedPoint.ONE || initialMarginMultiplier > FixedPoint.ONE) {
            revert SRM_InvalidBaseDiscountFactor();
        }
        baseMarginParams[marketId] = BaseMarginParams(marginFactor, initialMarginMultiplier);
        emit BaseMarginParamsSet(marketId, marginFactor, initialMarginMultiplier);
    }

    function setOracleContingencyParams(uint256 marketId, OracleContingencyParams calldata params)
        external
        onlyOwner
        existingMarket(marketId)
    {
        uint256 highest =
            Math.max(Math.max(params.perpThreshold, params.optionThreshold), Math.max(params.baseThreshold, params.OCFactor));
        if (highest > FixedPoint.ONE) revert SRM_InvalidOracleContingencyParams();
        oracleContingencyParams[marketId] = params;
        emit OracleContingencySet(
            params.perpThreshold, params.optionThreshold, params.baseThreshold, params.OCFactor
        );
    }

    function setStableFeed(ISpotFeed _stableFeed) external onlyOwner {
        stableFeed = _stableFeed;
        emit StableFeedUpdated(address(_stableFeed));
    }

    function setDepegParameters(DepegParams calldata params) external onlyOwner {
        if (params.threshold > FixedPoint.ONE || params.depegFactor > 3 * FixedPoint.ONE) {
            revert SRM_InvalidDepegParams();
        }
        depegParams = params;
        emit DepegParametersSet(params.threshold, params.depegFactor);
    }

    // --- margin

    function getMarketFeeds(uint256 marketId) external view returns (address spot, address forward, address vol) {
        return (address(spotFeeds[marketId]), address(0), address(0));
    }

    /// What the account is worth beyond its initial or maintenance requirement; negative when short of it.
    function getMargin(uint256 accountId, bool isInitial) external view returns (int256 margin) {
        (margin,) = _marginOf(accountId, subAccounts.getAccountBalances(accountId), isInitial);
    }

    /// The third argument chooses a scenario where margin follows scenarios; it has no meaning here.
    function getMarginAndMarkToMarket(uint256 accountId, bool isInitial, uint256)
        external
        view
        returns (int256 margin, int256 markToMarket)
    {
        return _marginOf(accountId, subAccounts.getAccountBalances(accountId), isInitial);
    }

    function _marginOf(uint256 accountId, AssetBalance[] memory held, bool isInitial)
        internal
        view
        returns (int256 margin, int256 mtm)
    {
        for (uint256 i = 0; i < held.length; i++) {
            (int256 addedMargin, int256 addedMtm) = _worth(accountId, held[i], isInitial);
            margin += addedMargin;
            mtm += addedMtm;
        }
    }

    function _worth(uint256 accountId, AssetBalance memory held, bool isInitial)
        private
        view
        returns (int256 margin, int256 mtm)
    {
        if (held.asset == cashAsset) return (held.balance, held.balance);
        AssetDetail memory detail = details[held.asset];
        if (detail.assetType == PERPETUAL) {
            IPerpAsset perp = IPerpAsset(held.asset);
            mtm = perp.getUnsettledAndUnrealizedCash(accountId);
            margin = mtm - _perpRequirement(perp, detail.marketId, SignedMath.abs(held.balance), isInitial).toInt256();
        } else if (detail.assetType == BASE) {
            return _collateral(detail.marketId, uint256(held.balance), isInitial);
        }
    }

    function _perpRequirement(IPerpAsset perp, uint256 marketId, uint256 size, bool isInitial)
        private
        view
        returns (uint256 requirement)
    {
        (uint256 mark, uint256 markConfidence) = perp.getPerpPrice();
        (uint256 index, uint256 indexConfidence) = spotFeeds[marketId].getSpot();
        PerpMarginRequirements memory rates = perpMarginRequirements[marketId];
        if (!isInitial) return size.mul(mark).mul(rates.mmPerpReq);

        requirement = size.mul(mark).mul(rates.imPerpReq);
        OracleContingencyParams memory oracle = oracleContingencyParams[marketId];
        uint256 confidence = Math.min(markConfidence, indexConfidence);
        if (confidence < oracle.perpThreshold) {
            requirement += (FixedPoint.ONE - confidence).mul(oracle.OCFactor).mul(index).mul(size);
        }
        (uint256 stable,) = stableFeed.getSpot();
        if (stable < depegParams.threshold) {
            requirement += size.mul((depegParams.threshold - stable).mul(depegParams.depegFactor)).mul(index);
        }
    }

    function _collateral(uint256 marketId, uint256 amount, bool isInitial)
        private
        view
        returns (int256 margin, int256 mtm)
    {
        (uint256 stable,) = stableFeed.getSpot();
        (uint256 index, uint256 confidence) = spotFeeds[marketId].getSpot();
        uint256 notional = amount.mul(index);
        BaseMarginParams memory params = baseMarginParams[marketId];
        mtm = notional.div(stable).toInt256();
        margin = notional.mul(params.marginFactor).toInt256();
        if (!isInitial) return (margin, mtm);

        margin = margin.mul(params.IMScale.toInt256());
        OracleContingencyParams memory oracle = oracleContingencyParams[marketId];
        if (confidence < oracle.baseThreshold) {
            margin -= (FixedPoint.ONE - confidence).mul(oracle.OCFactor).mul(notional).toInt256();
        }
    }
}
