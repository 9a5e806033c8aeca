"""Position-wise feed-forward networks, one for each unit or one for all."""

from torch import Tensor, nn

from mute.model.bank import BankLinear, BankNorm
from mute.model.dropout import Dropout


class FeedForward(nn.Module):
    """FFN_i(s) = W₂ max(0, W₁ norm_i(s) + b₁) + b₂ for P members."""

    def __init__(self, members: int, d: int, f: int, dropout: float) -> None:
        super().__init__()
        self.norm = BankNorm(members, d)
        self.expand = BankLinear(members, d, f)
        self.dropout = Dropout(dropout)
        self.contract = BankLinear(members, f, d)

    def forward(self, s: Tensor) -> Tensor:
        """(U, B, L, d) → (max(U, P), B, L, d)."""
        hidden = self.expand(self.norm(s)).relu()
        contracted: Tensor = self.contract(self.dropout(hidden))
        return contracted
