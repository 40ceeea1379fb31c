"""What training needs beside the model: `checkpoint`, `data`."""
