"""``torch.utils.model_zoo``: nothing is downloaded."""

from dtensor.torch.hub import load_state_dict_from_url as load_state_dict_from_url

load_url = load_state_dict_from_url
