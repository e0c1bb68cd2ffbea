// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {
    AssetBalance,
    AssetDelta,
    ICappedAsset,
    IDataReceiver,
    IManager,
    ISubAccounts,
    ManagerData
} from "./interfaces.sol";

/// What every manager has: markets and their assets, caps, and a guardian that can stop every change.
abstract contract BaseManager is IManager, Ownable {
    struct AssetDetail {
        bool isWhitelisted;
        uint8 assetType;
        uint256 marketId;
    }

    /// The accounts that this manager judges.
    ISubAccounts public immutable subAccounts;
    /// The asset that may be owed; zero where there is none.
    address public immutable cashAsset;
    /// The only account that pauses and resumes.
    address public guardian;
    /// While true, every change of an account that its manager judges is refused.
    bool public adjustmentsPaused;
    /// The most balances that an account may be left with.
    uint256 public maxAccountSize = 128;
    /// The newest market; 0 before the first.
    uint256 public lastMarketId;
    /// Contracts that the data of a trade may be delivered to.
    mapping(address callee => bool) public whitelistedCallee;
    /// The newest asset of a market and type.
    mapping(uint256 marketId => mapping(uint8 assetType => address asset)) public assetMap;
    mapping(address asset => AssetDetail) internal details;

    event AdjustmentsPausedSet(bool paused);
    event AssetWhitelisted(address asset, uint256 marketId, uint8 assetType);
    event GuardianSet(address guardian);
    event MarketCreated(uint256 marketId, string marketName);
    event MaxAccountSizeUpdated(uint256 maxAccountSize);

    error BM_AdjustmentsPaused();
    error BM_AssetCapExceeded();
    error BM_GuardianOnly();
    error BM_InvalidMaxAccountSize();
    error BM_OnlyAccounts();
    error BM_UnauthorizedCall();
    error SRM_MarketNotCreated();
    error SRM_NoNegativeCash();
    error SRM_TooManyAssets();
    error SRM_UnsupportedAsset();

    modifier existingMarket(uint256 marketId) {
        if (marketId == 0 || marketId > lastMarketId) revert SRM_MarketNotCreated();
        _;
    }

    constructor(ISubAccounts subAccounts_, address cashAsset_) Ownable(msg.sender) {
        subAccounts = subAccounts_;
        cashAsset = cashAsset_;
    }

    // --- settings

    /// Opens a market, to which assets are assigned; markets count from 1. The owner only, as all settings but the pause.
    function createMarket(string calldata _marketName) external onlyOwner returns (uint256 marketId) {
        marketId = ++lastMarketId;
        emit MarketCreated(marketId, _marketName);
    }

    /// Admits an asset to accounts of this manager. It is never removed; a later asset of the same market and type takes
    /// its place in assetMap, and the earlier one stays admitted.
    function whitelistAsset(address _asset, uint256 _marketId, uint8 _type)
        external
        onlyOwner
        existingMarket(_marketId)
    {
        details[_asset] = AssetDetail(true, _type, _marketId);
        assetMap[_marketId][_type] = _asset;
        emit AssetWhitelisted(_asset, _marketId, _type);
    }

    /// Admits or removes a receiver of data. It is called in the middle of a trade.
    function setWhitelistedCallee(address callee, bool whitelisted) external onlyOwner {
        whitelistedCallee[callee] = whitelisted;
    }

    /// Bounds the balances of an account. One that has more already is refused every change that leaves it with more.
    function setMaxAccountSize(uint256 _maxAccountSize) external onlyOwner {
        if (_maxAccountSize == 0) revert BM_InvalidMaxAccountSize();
        maxAccountSize = _maxAccountSize;
        emit MaxAccountSizeUpdated(_maxAccountSize);
    }

    /// Names the guardian.
    function setGuardian(address _guardian) external onlyOwner {
        guardian = _guardian;
        emit GuardianSet(_guardian);
    }

    /// Stops or resumes every change of accounts that this manager judges. The guardian only.
    function setAdjustmentsPaused(bool _paused) external {
        if (msg.sender != guardian) revert BM_GuardianOnly();
        adjustmentsPaused = _paused;
        emit AdjustmentsPausedSet(_paused);
    }

    // --- checks

    /// Called by SubAccounts for each account of a trade, after all balances changed: pause, receivers of data, caps, then
    /// the account. Reverts to refuse the trade.
    function handleAdjustment(
        uint256 accountId,
        uint256 tradeId,
        address caller,
        AssetDelta[] calldata deltas,
        bytes calldata managerData
    ) external {
        if (msg.sender != address(subAccounts)) revert BM_OnlyAccounts();
        if (adjustmentsPaused) revert BM_AdjustmentsPaused();
        _deliver(managerData);
        AssetBalance[] memory held = subAccounts.getAccountBalances(accountId);
        _checkCaps(held, tradeId);
        _checkAccount(accountId, caller, deltas, held);
    }

    /// Judges the account after the change; `held` are its balances, in which `deltas` are included.
    function _checkAccount(
        uint256 accountId,
        address caller,
        AssetDelta[] calldata deltas,
        AssetBalance[] memory held
    ) internal virtual;

    function _deliver(bytes calldata managerData) private {
        if (managerData.length == 0) return;
        ManagerData[] memory items = abi.decode(managerData, (ManagerData[]));
        for (uint256 i = 0; i < items.length; i++) {
            if (!whitelistedCallee[items[i].receiver]) revert BM_UnauthorizedCall();
            IDataReceiver(items[i].receiver).acceptData(items[i].data);
        }
    }

    /// A total above its cap may shrink, but not grow.
    function _checkCaps(AssetBalance[] memory held, uint256 tradeId) private view {
        for (uint256 i = 0; i < held.length; i++) {
            if (held[i].asset == cashAsset) continue;
            ICappedAsset asset = ICappedAsset(held[i].asset);
            uint256 total = asset.totalPosition(address(this));
            if (total <= asset.totalPositionCap(address(this))) continue;
            if (total > asset.totalPositionBefore(address(this), tradeId)) revert BM_AssetCapExceeded();
        }
    }

    // --- views

    /// Whether an asset is admitted, with its type and market; zeros for an unknown one.
    function assetDetails(address asset) external view returns (AssetDetail memory) {
        return details[asset];
    }
}
