// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

import {Ownable} from "@openzeppelin/contracts/access/Ownable.sol";
import {ReentrancyGuard} from "@openzeppelin/contracts/utils/ReentrancyGuard.sol";
import {SafeCast} from "@openzeppelin/contracts/utils/math/SafeCast.sol";
import {SignedMath} from "@openzeppelin/contracts/utils/math/SignedMath.sol";
import {FixedPoint} from "../FixedPoint.sol";
import {
    AssetBalance,
    IAuction,
    ICashAsset,
    ILiquidatableManager,
    ISecurityModule,
    ISubAccounts
} from "../interfaces.sol";
import {AuctionPrices} from "./AuctionPrices.sol";

/// Sells accounts that are below their maintenance margin. A solvent account is sold in portions for a falling price
/// until it is above its buffer margin; for an insolvent one the security module pays a rising price.
contract DutchAuction is IAuction, AuctionPrices, ReentrancyGuard {
    using FixedPoint for uint256;
    using SafeCast for int256;
    using SafeCast for uint256;

    struct Auction {
        uint256 accountId;
        uint256 scenarioId;
        bool insolvent;
        bool ongoing;
        /// Shortfall of an insolvent account when its auction started.
        uint256 cachedMM;
        uint256 startTime;
        /// Cash that bidders paid into the account; it is not for sale.
        uint256 reservedCash;
    }

    ISubAccounts public immutable subAccounts;
    ISecurityModule public immutable securityModule;
    ICashAsset public immutable cash;
    /// The security module's account; cash withdrawals stop while it holds less than the open shortfalls.
    uint256 public smAccount;
    uint256 public totalInsolventMM;
    mapping(address manager => bool) public managerWhitelisted;
    mapping(uint256 accountId => Auction) public auctions;

    event AuctionEnded(uint256 accountId, uint256 endTime);
    event Bid(
        uint256 accountId, uint256 bidderId, uint256 finalPercentage, uint256 cashFromBidder, uint256 cashToBidder
    );
    event InsolventAuctionStarted(uint256 accountId, uint256 scenarioId, int256 maintenanceMargin);
    event ManagerWhitelisted(address manager, bool whitelisted);
    event SMAccountSet(uint256 smAccount);
    event SolventAuctionStarted(uint256 accountId, uint256 scenarioId, int256 markToMarket, uint256 fee);

    error DA_AccountIsAboveMaintenanceMargin();
    error DA_AuctionAlreadyInInsolvencyMode();
    error DA_AuctionAlreadyStarted();
    error DA_AuctionCannotTerminate();
    error DA_AuctionNotStarted();
    error DA_AuctionShouldBeTerminated();
    error DA_CannotBidWithDifferentManager();
    error DA_InsufficientCash();
    error DA_InvalidBidderPortfolio();
    error DA_InvalidLastTradeId();
    error DA_InvalidPercentage();
    error DA_NotOngoingAuction();
    error DA_NotWhitelistedManager();
    error DA_OngoingSolventAuction();
    error DA_PriceLimitExceeded();
    error DA_SenderNotOwner();
    error DA_SolventAuctionEnded();

    constructor(ISubAccounts subAccounts_, ISecurityModule securityModule_, ICashAsset cash_) Ownable(msg.sender) {
        subAccounts = subAccounts_;
        securityModule = securityModule_;
        cash = cash_;
    }

    function setWhitelistManager(address manager, bool whitelisted) external onlyOwner {
        managerWhitelisted[manager] = whitelisted;
        emit ManagerWhitelisted(manager, whitelisted);
    }

    function setSMAccount(uint256 smAccount_) external onlyOwner {
        smAccount = smAccount_;
        emit SMAccountSet(smAccount_);
    }

    // --- start and end, open to every caller

    function startAuction(uint256 accountId, uint256 scenarioId) external nonReentrant {
        ILiquidatableManager manager = _settled(accountId);
        (int256 mm, int256 bm, int256 mtm) = getMarginAndMarkToMarket(accountId, scenarioId);
        if (mm >= 0) revert DA_AccountIsAboveMaintenanceMargin();
        if (auctions[accountId].ongoing) revert DA_AuctionAlreadyStarted();
        if (mtm <= 0) return _startInsolvent(accountId, scenarioId, mm);

        uint256 fee = _liquidationFee(mtm, bm);
        if (fee > 0) manager.payLiquidationFee(accountId, securityModule.accountId(), fee);
        auctions[accountId] = Auction(accountId, scenarioId, false, true, 0, block.timestamp, 0);
        emit SolventAuctionStarted(accountId, scenarioId, mtm, fee);
    }

    /// Continues a solvent auction that found no bidder.
    function convertToInsolventAuction(uint256 accountId) external nonReentrant {
        Auction memory auction = auctions[accountId];
        (int256 mm,, int256 mtm) = getMarginAndMarkToMarket(accountId, auction.scenarioId);
        if (auction.insolvent) revert DA_AuctionAlreadyInInsolvencyMode();
        if (_currentSolventPrice(auction, mtm) > 0) revert DA_OngoingSolventAuction();
        if (mm >= 0) revert DA_AccountIsAboveMaintenanceMargin();
        _startInsolvent(accountId, auction.scenarioId, mm);
    }

    function terminateAuction(uint256 accountId) external nonReentrant {
        (bool canTerminate,,,) = getAuctionStatus(accountId);
        if (!canTerminate) revert DA_AuctionCannotTerminate();
        _terminate(accountId);
    }

    function _startInsolvent(uint256 accountId, uint256 scenarioId, int256 mm) private {
        uint256 shortfall = SignedMath.abs(mm);
        totalInsolventMM += shortfall;
        auctions[accountId] = Auction(accountId, scenarioId, true, true, shortfall, block.timestamp, 0);
        emit InsolventAuctionStarted(accountId, scenarioId, mm);
    }

    function _terminate(uint256 accountId) private {
        Auction storage auction = auctions[accountId];
        auction.ongoing = false;
        totalInsolventMM -= auction.cachedMM;
        emit AuctionEnded(accountId, block.timestamp);
    }

    /// The account's manager, after it settled all profit, funding and interest of the account into cash.
    function _settled(uint256 accountId) private returns (ILiquidatableManager manager) {
        manager = ILiquidatableManager(subAccounts.manager(accountId));
        if (!managerWhitelisted[address(manager)]) revert DA_NotWhitelistedManager();
        manager.settleInterest(accountId);
        manager.settlePerpsWithIndex(accountId);
    }

    // --- bids

    /// Buys a portion of the account, at most what is for sale. `priceLimit` bounds what the bidder pays (0: no bound;
    /// negative: the least it is paid), `expectedLastTradeId` the account's last change (0: any).
    function bid(
        uint256 accountId,
        uint256 bidderId,
        uint256 percentOfAccount,
        int256 priceLimit,
        uint256 expectedLastTradeId
    ) external nonReentrant returns (uint256 finalPercentage, uint256 cashFromBidder, uint256 cashToBidder) {
        if (percentOfAccount == 0 || percentOfAccount > FixedPoint.ONE) revert DA_InvalidPercentage();
        if (expectedLastTradeId != 0 && subAccounts.lastAccountTradeId(accountId) != expectedLastTradeId) {
            revert DA_InvalidLastTradeId();
        }
        ILiquidatableManager manager = _bidManager(accountId, bidderId);

        bool ends;
        if (_checkedStatus(accountId)) {
            (ends, finalPercentage, cashToBidder) = _bidOnInsolvent(manager, accountId, bidderId, percentOfAccount);
        } else {
            (ends, finalPercentage, cashFromBidder) = _bidOnSolvent(manager, accountId, bidderId, percentOfAccount);
        }
        int256 price = cashFromBidder.toInt256() - cashToBidder.toInt256();
        if (priceLimit != 0 && price > priceLimit) revert DA_PriceLimitExceeded();
        if (ends) _terminate(accountId);
        emit Bid(accountId, bidderId, finalPercentage, cashFromBidder, cashToBidder);
    }

    function _bidManager(uint256 accountId, uint256 bidderId) private returns (ILiquidatableManager manager) {
        address managerAddress = subAccounts.manager(accountId);
        if (!managerWhitelisted[managerAddress]) revert DA_NotWhitelistedManager();
        if (managerAddress != subAccounts.manager(bidderId)) revert DA_CannotBidWithDifferentManager();
        manager = _settled(accountId);
        if (subAccounts.ownerOf(bidderId) != msg.sender) revert DA_SenderNotOwner();
    }

    function _checkedStatus(uint256 accountId) private view returns (bool insolvent) {
        (bool canTerminate,,,) = getAuctionStatus(accountId);
        if (canTerminate) revert DA_AuctionShouldBeTerminated();
        return auctions[accountId].insolvent;
    }

    function _bidOnSolvent(ILiquidatableManager manager, uint256 accountId, uint256 bidderId, uint256 percent)
        private
        returns (bool ends, uint256 portion, uint256 paid)
    {
        Auction storage auction = auctions[accountId];
        uint256 reserved = auction.reservedCash;
        (, int256 bm, int256 mtm) = getMarginAndMarkToMarket(accountId, auction.scenarioId);
        int256 price = _currentSolventPrice(auction, mtm);
        if (price <= 0) revert DA_SolventAuctionEnded();

        portion = _maxProportion(mtm, bm, getDiscountPercentage(auction.startTime, block.timestamp), reserved);
        ends = percent >= portion;
        if (!ends) portion = percent;
        paid = price.toUint256().mul(portion);
        _requireCash(bidderId, paid + SignedMath.abs(bm - reserved.toInt256()).mul(portion));
        manager.executeBid(accountId, bidderId, portion, paid, reserved);
        auction.reservedCash = reserved + paid;
    }

    function _bidOnInsolvent(ILiquidatableManager manager, uint256 accountId, uint256 bidderId, uint256 portion)
        private
        returns (bool ends, uint256, uint256 received)
    {
        Auction storage auction = auctions[accountId];
        (int256 mm,, int256 mtm) = getMarginAndMarkToMarket(accountId, auction.scenarioId);
        received = (-_insolventPrice(auction.startTime, mm, mtm)).toUint256().mul(portion);
        _requireCash(bidderId, SignedMath.abs(mm).mul(portion) - received);
        uint256 paid = securityModule.requestPayout(bidderId, received);
        if (paid < received) cash.socializeLoss(received - paid, bidderId);
        manager.executeBid(accountId, bidderId, portion, 0, auction.reservedCash);
        return (portion == FixedPoint.ONE, portion, received);
    }

    /// The bidder must hold cash only, and enough of it to pay and to keep what it buys above its margin.
    function _requireCash(uint256 bidderId, uint256 needed) private view {
        AssetBalance[] memory held = subAccounts.getAccountBalances(bidderId);
        if (held.length != 1 || held[0].asset != address(cash)) revert DA_InvalidBidderPortfolio();
        if (held[0].balance < needed.toInt256()) revert DA_InsufficientCash();
    }

    // --- views

    function isAuctionLive(uint256 accountId) external view returns (bool) {
        return auctions[accountId].ongoing;
    }

    function getAuction(uint256 accountId) external view returns (Auction memory) {
        return auctions[accountId];
    }

    /// True while the security module holds less than what insolvent accounts lack.
    function getIsWithdrawBlocked() external view returns (bool) {
        if (totalInsolventMM == 0 || smAccount == 0) return false;
        return totalInsolventMM > subAccounts.getBalance(smAccount, address(cash), 0).toUint256();
    }

    /// A solvent auction ends at the buffer margin, or when it must start again as an insolvent one; an insolvent or
    /// expired auction ends at the maintenance margin.
    function getAuctionStatus(uint256 accountId)
        public
        view
        returns (bool canTerminate, int256 markToMarket, int256 maintenanceMargin, int256 bufferMargin)
    {
        Auction memory auction = auctions[accountId];
        if (!auction.ongoing) revert DA_NotOngoingAuction();
        (maintenanceMargin, bufferMargin, markToMarket) = getMarginAndMarkToMarket(accountId, auction.scenarioId);
        if (auction.insolvent || _isSolventOver(auction.startTime)) canTerminate = maintenanceMargin >= 0;
        else if (markToMarket < 0 || auction.reservedCash.toInt256() >= markToMarket) canTerminate = true;
        else canTerminate = bufferMargin >= 0;
    }

    /// Price of all of the account that is for sale; negative when the bidder is paid.
    function getCurrentBidPrice(uint256 accountId) external view returns (int256) {
        Auction memory auction = auctions[accountId];
        (int256 mm,, int256 mtm) = getMarginAndMarkToMarket(accountId, auction.scenarioId);
        if (!auction.insolvent) return _currentSolventPrice(auction, mtm);
        if (!auction.ongoing) revert DA_AuctionNotStarted();
        return _insolventPrice(auction.startTime, mm, mtm);
    }

    function getMaxProportion(uint256 accountId, uint256 scenarioId) external view returns (uint256) {
        (, int256 bm, int256 mtm) = getMarginAndMarkToMarket(accountId, scenarioId);
        if (mtm < 0) revert DA_SolventAuctionEnded();
        Auction memory auction = auctions[accountId];
        uint256 discount = getDiscountPercentage(auction.startTime, block.timestamp);
        return _maxProportion(mtm, bm, discount, auction.reservedCash);
    }

    function getMarginAndMarkToMarket(uint256 accountId, uint256 scenarioId)
        public
        view
        returns (int256 mm, int256 bm, int256 mtm)
    {
        ILiquidatableManager manager = ILiquidatableManager(subAccounts.manager(accountId));
        (mm, mtm) = manager.getMarginAndMarkToMarket(accountId, false, scenarioId);
        bm = _bufferMargin(mm, mtm);
    }

    function _currentSolventPrice(Auction memory auction, int256 mtm) private view returns (int256) {
        if (!auction.ongoing) revert DA_AuctionNotStarted();
        return _solventPrice(auction.startTime, mtm, auction.reservedCash);
    }
}
