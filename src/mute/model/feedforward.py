"""Position-wise feed-forward networks, one for each unit or one for all."""

from torch import Tensor, nn
from torch.nn import functional as F

from mute.model.bank import BankLinear, BankNorm, bank_product
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
        hidden = self._expanded(s).relu()
        contracted: Tensor = self.contract(self.dropout(hidden))
        return contracted

    def _expanded(self, s: Tensor) -> Tensor:
        """W₁ norm_i(s) + b₁."""
        usual = type(self.norm) is BankNorm and type(self.expand) is BankLinear
        if not (self.training and usual) or len(self.norm.weight) == 1:
            expanded: Tensor = self.expand(self.norm(s))
            return expanded
        # The units' scales and shifts go into the matrix: fewer passes over the vectors.
        scale, shift = self.norm.weight[:, None], self.norm.bias[..., None]
        weight, bias = self.expand.weight, self.expand.bias
        normal = F.layer_norm(s, s.shape[-1:])
        return bank_product(normal, weight * scale, bias + (weight @ shift)[..., 0])
